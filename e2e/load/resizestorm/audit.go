package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// auditEvent is the part of an audit.k8s.io/v1 Event that is read here.
type auditEvent struct {
	Verb      string `json:"verb"`
	ObjectRef struct{ Namespace, Name, Subresource string }
	Received  time.Time `json:"requestReceivedTimestamp"`
	Completed time.Time `json:"stageTimestamp"`
	Response  struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// auditLags reads, for each node, the milliseconds between the answer to the write that made its Pod Deferred and the
// arrival of the first request that removes a Pod there, be it an eviction or a delete. Both are the API server's
// own times, so neither our client nor a watch is in the figure. A negative one would be a victim taken before.
func auditLags(path string) ([]float64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// The last update of a growing Pod's status is the one with the condition; a scheduler patches, it does not update.
	deferred, removed := map[int]time.Time{}, map[int]time.Time{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditEvent
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		object := event.ObjectRef
		if object.Namespace != namespace || event.Response.Code >= 300 {
			continue
		}
		var node, bit int
		switch {
		case event.Verb == "update" && object.Subresource == "status":
			if _, err := fmt.Sscanf(object.Name, "high-%d", &node); err == nil {
				deferred[node] = event.Completed
			}
		case event.Verb == "create" && object.Subresource == "eviction", event.Verb == "delete" && object.Subresource == "":
			if _, err := fmt.Sscanf(object.Name, "low-%d-%d", &node, &bit); err == nil {
				if first, seen := removed[node]; !seen || event.Received.Before(first) {
					removed[node] = event.Received
				}
			}
		}
	}
	var lags []float64
	for node, at := range removed {
		lags = append(lags, float64(at.Sub(deferred[node]).Microseconds())/1000)
	}
	return lags, lines.Err()
}
