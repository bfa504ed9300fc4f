package load

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is the scheduler under test.
type Process struct{ command *exec.Cmd }

// Use is what a scheduler took from the machine.
type Use struct {
	CPUSeconds float64
	// PeakMemory is the high-water mark of the resident set, in MB of 10^6 bytes.
	PeakMemory float64
}

// Start runs the command with its output in the file.
func Start(command []string, output string) (*Process, error) {
	if len(command) == 0 {
		return nil, errors.New("name the scheduler's command after --")
	}
	log, err := os.Create(output)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c := exec.Command(command[0], command[1:]...)
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		return nil, err
	}
	return &Process{c}, nil
}

// Stop reads what the process used so far and ends it, by SIGTERM and after five seconds by SIGKILL.
func (p *Process) Stop() (Use, error) {
	peak, err := p.peakMemory()
	if err != nil {
		p.command.Wait()
		return Use{}, fmt.Errorf("the scheduler ended before the measurement did: %s", p.command.ProcessState)
	}
	p.command.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(5*time.Second, func() { p.command.Process.Kill() })
	p.command.Wait() // a non-zero exit says nothing about the measurement
	kill.Stop()
	state := p.command.ProcessState
	return Use{CPUSeconds: (state.UserTime() + state.SystemTime()).Seconds(), PeakMemory: peak}, nil
}

func (p *Process) peakMemory() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kilobytes, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kilobytes * 1024 / 1e6, err
		}
	}
	return 0, errors.New("no VmHWM: the process has ended")
}
