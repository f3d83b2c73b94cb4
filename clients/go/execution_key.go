// The key of a side effect, the same for the same call of a tool.

package routerservice

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// ExecutionKey is the SHA-256, in 64 hex digits, of the operation's id, the tool's name and the canonical form of its
// arguments ([CanonicalJSON]), separated by zero bytes. The operation's id is the caller's own, the same when it is tried
// again; a ledger that keeps what was done under the key keeps it from being done twice.
//
// Give the arguments as a json.RawMessage where you have their text: whole numbers above 2⁵³ are then told from those
// that a double can hold.
func ExecutionKey(operationID, toolName string, arguments any) (string, error) {
	canonical, err := CanonicalJSON(arguments)
	if err != nil {
		return "", err
	}
	if strings.Contains(operationID+toolName, "\x00") {
		return "", errors.New("operationID and toolName cannot have a zero character, which separates the parts")
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{operationID, toolName, canonical}, "\x00")))
	return hex.EncodeToString(sum[:]), nil
}
