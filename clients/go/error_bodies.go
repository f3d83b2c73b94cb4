// What a body says went wrong: its error code, what that speaks of, and its status, by the table of failure classes.

package routerservice

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// messageRead is how many characters of a message are looked at.
const messageRead = 500

// A code is a word, never a sentence: what a body says at length may quote the request, and no payload is reported.
var errorCode = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)

// told is what an answer says of itself: the subject of its error (empty where not known) and the code to report.
type told struct {
	subject   string
	errorCode string
}

// parsedBody is a body as JSON where it can be read as such; of a list the first, as streams of Google's send it.
func parsedBody(body any) any {
	switch text := body.(type) {
	case []byte:
		body = parsedJSON(text)
	case string:
		body = parsedJSON([]byte(text))
	}
	if list, ok := body.([]any); ok && len(list) > 0 {
		return list[0]
	}
	return body
}

// parsedJSON is nil for what is not one JSON document. Numbers stay text: one too large must not spoil all the rest.
func parsedJSON(text []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil
	}
	return value
}

// found is what stands at the places of a body, such as `error.details[].reason`, in their order.
func found(body any, places []string) []any {
	var all []any
	for _, place := range places {
		all = at(all, body, strings.Split(place, "."))
	}
	return all
}

func at(all []any, value any, path []string) []any {
	if len(path) == 0 {
		if value != nil {
			all = append(all, value)
		}
		return all
	}
	object, ok := value.(map[string]any)
	if !ok {
		return all
	}
	name, isList := strings.CutSuffix(path[0], "[]")
	if !isList {
		return at(all, object[name], path[1:])
	}
	list, _ := object[name].([]any)
	for _, one := range list {
		all = at(all, one, path[1:])
	}
	return all
}

func firstAt(body any, places []string) any {
	if all := found(body, places); len(all) > 0 {
		return all[0]
	}
	return nil
}

// letters keeps letters and digits alone, small: providers write the same thing in many ways.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(text))
}

// toldStatus is the status of an error that came within an answer of another status, as OpenRouter sends it.
func toldStatus(body any, places []string) (int, bool) {
	for _, one := range found(body, places) {
		if number, ok := wholeNumber(one); ok && 400 <= number && number <= 599 {
			return number, true
		}
	}
	return 0, false
}

func wholeNumber(value any) (int, bool) {
	switch number := value.(type) {
	case json.Number:
		read, err := strconv.ParseFloat(number.String(), 64) // 429.0 is whole too
		return int(read), err == nil && read == math.Trunc(read) && math.Abs(read) <= math.MaxInt32
	case float64: // what encoding/json makes of a number by itself
		return int(number), number == float64(int(number))
	case int:
		return number, true
	}
	return 0, false
}

// toldBy is what an answer speaks of: by its code where one is known, else by its message, else only its first code.
func toldBy(status int, header map[string]string, body any, rules *failureClasses) told {
	codes := errorCodes(header, body, rules)
	for _, code := range codes {
		normal := letters(code)
		for _, row := range rules.Subjects {
			if containsAny(normal, row.Words) {
				return told{row.Subject, code}
			}
			if containsAny(normal, row.MoreWords) {
				return told{row.Subject, either(row.Report, code)}
			}
		}
	}
	first := ""
	if len(codes) > 0 {
		first = codes[0]
	}
	for _, one := range found(body, rules.MessagePlaces) {
		message, ok := one.(string)
		if !ok {
			continue
		}
		normal := letters(begin(message, messageRead))
		for i := range rules.Messages {
			if row := &rules.Messages[i]; row.speaks(status, normal) {
				return told{row.Subject, either(row.Report, first)}
			}
		}
	}
	return told{"", first}
}

// errorCodes are the codes that an answer has, in the order of their places.
func errorCodes(header map[string]string, body any, rules *failureClasses) []string {
	written := found(body, rules.CodePlaces)
	for _, name := range rules.CodeHeaders {
		written = append(written, header[name])
	}
	var codes []string
	for _, one := range written {
		if text, ok := one.(string); ok {
			if code := codeOf(text); code != "" {
				codes = append(codes, code)
			}
		}
	}
	return codes
}

// codeOf is a code without a namespace (`a.b#Code`) and what follows it (`Code:http://…`); empty where it is none.
func codeOf(text string) string {
	text = text[strings.LastIndex(text, "#")+1:]
	code, _, _ := strings.Cut(text, ":")
	code = strings.TrimSpace(code)
	hasLetter := strings.ContainsFunc(code, func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' })
	if !hasLetter || !errorCode.MatchString(code) {
		return ""
	}
	return code
}

func either(first, second string) string {
	if first != "" {
		return first
	}
	return second
}

// begin is the first so many characters of a text.
func begin(text string, count int) string {
	for place := range text {
		if count == 0 {
			return text[:place]
		}
		count--
	}
	return text
}
