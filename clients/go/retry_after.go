// How long an endpoint asks to be left alone: Retry-After in all its forms, in milliseconds.

package routerservice

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// retryAfterMax: the service obeys none beyond a day, and a wrong date must not last for ever.
const retryAfterMax = 24 * 3600 * 1000

var decimal = regexp.MustCompile(`^([0-9]{1,12})(?:\.([0-9]{1,12}))?$`)

// retryAfterMs is what was asked for, rounded up to whole milliseconds and held to a day; nil where nothing can be read.
//
// The header's names are small. `retry-after-ms` goes first, then `retry-after` (seconds, or an HTTP date as seen from
// now), then delay, the retryDelay of a google.rpc.RetryInfo (`34.5s`).
func retryAfterMs(header map[string]string, delay any, now time.Time) *uint32 {
	asked, ok := milliseconds(header["retry-after-ms"], 1)
	if !ok {
		asked, ok = milliseconds(header["retry-after"], 1000)
	}
	if !ok {
		asked, ok = untilDate(header["retry-after"], now)
	}
	if text, isText := delay.(string); !ok && isText {
		if seconds, isSeconds := strings.CutSuffix(text, "s"); isSeconds {
			asked, ok = milliseconds(seconds, 1000)
		}
	}
	if !ok {
		return nil
	}
	return new(uint32(min(asked, retryAfterMax)))
}

// milliseconds reads digits with an optional fraction, of a unit that has so many milliseconds. Whole numbers do it:
// twelve digits times a thousand fit.
func milliseconds(text string, unit int64) (int64, bool) {
	parts := decimal.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return 0, false
	}
	whole, _ := strconv.ParseInt(parts[1], 10, 64)
	asked := whole * unit
	if parts[2] != "" {
		fraction, _ := strconv.ParseInt(parts[2], 10, 64)
		scale := int64(1)
		for range parts[2] {
			scale *= 10
		}
		asked += (fraction*unit + scale - 1) / scale
	}
	return asked, true
}

func untilDate(text string, now time.Time) (int64, bool) {
	text = strings.TrimSpace(text)
	moment, err := http.ParseTime(text)
	// It reads white space where there is none in any of the three forms.
	if err != nil || strings.Contains(text, ",  ") {
		return 0, false
	}
	if _, err := time.Parse(time.RFC850, text); err == nil {
		moment = moment.AddDate(fullYear(moment.Year()%100, now.UTC().Year())-moment.Year(), 0, 0)
	}
	return max(0, moment.Sub(now).Round(time.Millisecond).Milliseconds()), true
}

// fullYear: a year of two digits is of this century, unless that is more than 50 years ahead (RFC 9110, 5.6.7).
func fullYear(digits, now int) int {
	near := now - now%100 + digits
	if near > now+50 {
		near -= 100
	}
	return near
}
