// Load: many different gRPC messages as fast as they are answered, unary or by streams, with a raw byte codec.
//
// One JSON line is printed: calls answered while every worker was running (without a warm-up), seconds, times of a
// call in microseconds, and the share of its core that this program used (near 1 it is the bottleneck itself).
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
)

// raw passes bytes through: the messages were written beforehand, and nobody reads the answers here.
type raw struct{}

func (raw) Marshal(message any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*message.(*[]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, message any) error {
	*message.(*[]byte) = data.Materialize()
	return nil
}

func (raw) Name() string { return "raw" }

var errNoBody = errors.New("no message in the file")

// bodies reads messages, each behind its length of four bytes.
func bodies(path string) ([][]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var found [][]byte
	for len(data) > 4 {
		size := int(binary.BigEndian.Uint32(data))
		found = append(found, data[4:4+size])
		data = data[4+size:]
	}
	if len(found) == 0 {
		return nil, errNoBody
	}
	return found, nil
}

type load struct {
	context  context.Context // with what each call shows
	method   string
	messages [][]byte
	next     atomic.Uint64
	begin    time.Time // what ends before is warm-up
	end      time.Time
	mutex    sync.Mutex
	times    []int64
}

func (one *load) message() *[]byte {
	return &one.messages[one.next.Add(1)%uint64(len(one.messages))]
}

// took keeps the time of a call that ended now and says whether to go on.
func (one *load) took(times *[]int64, start time.Time) bool {
	now := time.Now()
	if now.After(one.begin) && now.Before(one.end) {
		*times = append(*times, now.Sub(start).Microseconds())
	}
	return now.Before(one.end)
}

func (one *load) keep(times []int64) {
	one.mutex.Lock()
	defer one.mutex.Unlock()
	one.times = append(one.times, times...)
}

func (one *load) unary(connection *grpc.ClientConn) error {
	var times []int64
	defer func() { one.keep(times) }()
	for {
		var answer []byte
		start := time.Now()
		if err := connection.Invoke(one.context, one.method, one.message(), &answer); err != nil {
			return err
		}
		if !one.took(&times, start) {
			return nil
		}
	}
}

// stream keeps `window` messages under way on one stream; answers come in the order of the messages.
func (one *load) stream(connection *grpc.ClientConn, window int) error {
	var times []int64
	defer func() { one.keep(times) }()
	description := grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	stream, err := connection.NewStream(one.context, &description, one.method)
	if err != nil {
		return err
	}
	starts := make(chan time.Time, window)
	for range window {
		starts <- time.Now()
		if err := stream.SendMsg(one.message()); err != nil {
			return err
		}
	}
	for {
		var answer []byte
		if err := stream.RecvMsg(&answer); err != nil {
			return err
		}
		if !one.took(&times, <-starts) {
			break
		}
		starts <- time.Now()
		if err := stream.SendMsg(one.message()); err != nil {
			return err
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		var answer []byte
		if err := stream.RecvMsg(&answer); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func used() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func run() error {
	address := flag.String("address", "", "host:port")
	method := flag.String("method", "", "/package.Service/Method")
	file := flag.String("bodies", "", "messages, each behind its length")
	streaming := flag.Bool("stream", false, "bidi streams instead of unary calls")
	connections := flag.Int("connections", 4, "connections")
	workers := flag.Int("workers", 8, "calls or streams at a time, over all connections")
	window := flag.Int("window", 1, "messages under way on a stream")
	first := flag.Uint64("first", 0, "the message to begin with")
	authorization := flag.String("authorization", "", "what each call shows")
	duration := flag.Duration("duration", 2*time.Second, "how long to measure")
	warmUp := flag.Duration("warm-up", 300*time.Millisecond, "how long not to measure before")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	messages, err := bodies(*file)
	if err != nil {
		return err
	}
	var channels []*grpc.ClientConn
	for range *connections {
		channel, err := grpc.NewClient(*address, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{})))
		if err != nil {
			return err
		}
		defer channel.Close()
		channels = append(channels, channel)
	}
	started, before := time.Now(), used()
	begin := started.Add(*warmUp)
	work := &load{context: context.Background(), method: *method, messages: messages, begin: begin, end: begin.Add(*duration)}
	if *authorization != "" {
		work.context = metadata.AppendToOutgoingContext(work.context, "authorization", *authorization)
	}
	work.next.Store(*first)
	failures := make(chan error, *workers)
	for number := range *workers {
		channel := channels[number%len(channels)]
		go func() {
			if *streaming {
				failures <- work.stream(channel, *window)
			} else {
				failures <- work.unary(channel)
			}
		}()
	}
	for range *workers {
		if err := <-failures; err != nil {
			return err
		}
	}
	share := (used() - before) / time.Since(started).Seconds()
	sort.Slice(work.times, func(i, j int) bool { return work.times[i] < work.times[j] })
	if len(work.times) == 0 {
		return errors.New("no call was answered in time")
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"calls": len(work.times), "seconds": duration.Seconds(), "core": share,
		"every": work.next.Load() - *first,
		"p50":   work.times[len(work.times)/2], "p99": work.times[len(work.times)*99/100],
	})
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}
