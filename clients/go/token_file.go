// A file that holds a token, and may be renewed.

package routerservice

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// tokenFile is a file that holds a token and nothing else.
type tokenFile struct {
	path string

	mutex sync.Mutex
	seen  fs.FileInfo
	read  string
}

// token is the one that it holds now.
func (f *tokenFile) token(context.Context) (string, error) {
	now, err := os.Stat(f.path)
	if err != nil {
		return "", err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.seen != nil && os.SameFile(now, f.seen) && now.ModTime().Equal(f.seen.ModTime()) && now.Size() == f.seen.Size() {
		return f.read, nil
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return "", err
	}
	f.read, f.seen = strings.TrimSpace(string(text)), now
	return f.read, nil
}
