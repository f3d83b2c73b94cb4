// What a client can be told when it is made.

package routerservice

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"
)

const (
	// DefaultTarget is where a service listens that was told nothing else.
	DefaultTarget = "127.0.0.1:50051"
	// DefaultTimeout is how long a call may take.
	DefaultTimeout = 5 * time.Second
	// DefaultCloseTimeout is how long Close waits for reports to be delivered.
	DefaultCloseTimeout = 5 * time.Second
	// DefaultReportLimit is how many reports wait at most.
	DefaultReportLimit = 1000
)

// Option is something that [New] is told.
type Option func(*settings)

type settings struct {
	timeout      time.Duration
	closeTimeout time.Duration
	reportLimit  int
	logger       *slog.Logger
	tls          *tls.Config
	token        func(context.Context) (string, error)
	problems     []string
}

// WithTimeout bounds each call that is answered once; the deadline of a call's context holds too. Streams last as long
// as their context.
func WithTimeout(timeout time.Duration) Option {
	return func(s *settings) {
		s.timeout = timeout
		s.check(timeout > 0, "WithTimeout: must be more than 0")
	}
}

// WithCloseTimeout bounds how long Close waits for reports to be delivered; 0 does not wait.
func WithCloseTimeout(timeout time.Duration) Option {
	return func(s *settings) {
		s.closeTimeout = timeout
		s.check(timeout >= 0, "WithCloseTimeout: must be 0 or more")
	}
}

// WithReportLimit is how many reports of Run wait at most while the service is away; what finds no room is dropped,
// counted and logged.
func WithReportLimit(limit int) Option {
	return func(s *settings) {
		s.reportLimit = limit
		s.check(limit > 0, "WithReportLimit: must be more than 0")
	}
}

// WithLogger is told of reports that were dropped, refused or lost; it is slog.Default() unless said otherwise.
func WithLogger(logger *slog.Logger) Option {
	return func(s *settings) {
		s.logger = logger
		s.check(logger != nil, "WithLogger: must not be nil; slog.New(slog.DiscardHandler) logs nothing")
	}
}

// WithTLS encrypts the connection, which is plain without it; nil trusts the machine's own roots.
func WithTLS(config *tls.Config) Option {
	return func(s *settings) {
		if config == nil {
			config = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		s.tls = config
	}
}

// WithToken is sent with every call, as `authorization: Bearer …`. It needs WithTLS, unless the service is on this
// machine: a token never goes over a plain connection to another one.
func WithToken(token string) Option {
	return func(s *settings) {
		s.token = func(context.Context) (string, error) { return token, nil }
		s.check(isToken(token), "WithToken: must have 1 or more visible ASCII characters and no spaces")
	}
}

// WithTokenFrom is WithToken with a token that is asked for before every call, so keep one as long as it lasts. It is
// used from several goroutines. Where it fails, the call fails as ErrUnauthenticated.
func WithTokenFrom(token func(context.Context) (string, error)) Option {
	return func(s *settings) {
		s.token = token
		s.check(token != nil, "WithTokenFrom: must not be nil")
	}
}

// WithTokenFile is WithToken with the one word that a file holds, which is read again when the file was replaced or
// written.
func WithTokenFile(path string) Option { return WithTokenFrom((&tokenFile{path: path}).token) }

func newSettings(options []Option) *settings {
	made := &settings{
		timeout:      DefaultTimeout,
		closeTimeout: DefaultCloseTimeout,
		reportLimit:  DefaultReportLimit,
		logger:       slog.Default(),
	}
	for _, option := range options {
		option(made)
	}
	return made
}

func (s *settings) check(holds bool, problem string) {
	if !holds {
		s.problems = append(s.problems, problem)
	}
}
