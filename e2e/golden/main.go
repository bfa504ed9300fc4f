// Command golden writes what Kubernetes' own Go code makes of many quantities and Pods, for the tests in Rust to
// agree with. The same seed gives the same bytes.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: golden DIRECTORY")
		os.Exit(2)
	}
	directory := os.Args[1]
	if err := write(filepath.Join(directory, "quantities.json"), quantities()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	pods, err := footprints()
	if err == nil {
		err = write(filepath.Join(directory, "footprints.json"), pods)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write puts one case on a line, so that a change shows as a small difference.
func write[T any](path string, cases []T) error {
	var lines [][]byte
	for _, one := range cases {
		line, err := json.Marshal(one)
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	text := "[\n" + string(bytes.Join(lines, []byte(",\n"))) + "\n]\n"
	return os.WriteFile(path, []byte(text), 0o644)
}
