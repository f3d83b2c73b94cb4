// Canonical JSON (RFC 8785): one text for one value, in every language.

package routerservice

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// CanonicalJSON is a value as RFC 8785 writes it: a json.RawMessage, or what encoding/json makes of JSON (nil, bool,
// string, float64, json.Number, []any, map[string]any), or an int. The error tells what cannot be written alike in every
// language.
func CanonicalJSON(value any) (string, error) {
	var text strings.Builder
	if err := writeCanonical(&text, value); err != nil {
		return "", err
	}
	return text.String(), nil
}

func writeCanonical(text *strings.Builder, value any) error {
	switch value := value.(type) {
	case nil:
		text.WriteString("null")
	case bool:
		text.WriteString(strconv.FormatBool(value))
	case string:
		return writeString(text, value)
	case float64:
		return writeNumber(text, value, "")
	case int:
		return writeNumber(text, float64(value), strconv.Itoa(value))
	case json.Number:
		number, err := value.Float64()
		if err != nil {
			return fmt.Errorf("the number %s has no canonical form", value)
		}
		return writeNumber(text, number, value.String())
	case []any:
		return writeList(text, value)
	case map[string]any:
		return writeObject(text, value)
	case json.RawMessage:
		parsed, err := parseExactly(value)
		if err != nil {
			return err
		}
		return writeCanonical(text, parsed)
	default:
		return fmt.Errorf("%T has no canonical form; give a json.RawMessage, or what encoding/json reads into an any", value)
	}
	return nil
}

func writeList(text *strings.Builder, list []any) error {
	text.WriteByte('[')
	for i, one := range list {
		if i > 0 {
			text.WriteByte(',')
		}
		if err := writeCanonical(text, one); err != nil {
			return err
		}
	}
	text.WriteByte(']')
	return nil
}

func writeObject(text *strings.Builder, object map[string]any) error {
	text.WriteByte('{')
	for i, name := range slices.SortedFunc(maps.Keys(object), compareUTF16) {
		if i > 0 {
			text.WriteByte(',')
		}
		if err := writeString(text, name); err != nil {
			return err
		}
		text.WriteByte(':')
		if err := writeCanonical(text, object[name]); err != nil {
			return err
		}
	}
	text.WriteByte('}')
	return nil
}

// compareUTF16 is the order of names; it is another than that of code points where there are surrogates.
func compareUTF16(a, b string) int {
	return slices.CompareFunc(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)), cmp.Compare[uint16])
}

// shortEscapes are those that JSON has letters for.
var shortEscapes = map[rune]string{
	'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`,
}

func writeString(text *strings.Builder, value string) error {
	if !utf8.ValidString(value) {
		return errors.New("text that is not UTF-8 has no canonical form")
	}
	text.WriteByte('"')
	for _, r := range value {
		short, ok := shortEscapes[r]
		switch {
		case ok:
			text.WriteString(short)
		case r < ' ':
			fmt.Fprintf(text, `\u%04x`, r)
		default:
			text.WriteRune(r)
		}
	}
	text.WriteByte('"')
	return nil
}

// writeNumber writes a number as ECMAScript writes the double that it is; as it was written tells whether it is another
// number than that.
func writeNumber(text *strings.Builder, number float64, asWritten string) error {
	if math.IsInf(number, 0) || math.IsNaN(number) {
		return fmt.Errorf("the number %v has no canonical form", number)
	}
	written := ecmaScript(number)
	if whole, ok := new(big.Int).SetString(asWritten, 10); ok && written != asWritten {
		if exact, _ := big.NewFloat(number).Int(nil); exact.Cmp(whole) != 0 {
			return fmt.Errorf("%s is another number to languages that know doubles alone; pass it as a string", asWritten)
		}
	}
	text.WriteString(written)
	return nil
}

// ecmaScript is the shortest digits that read back as the same double, with an exponent where it is below 1e-6 or from
// 1e21.
func ecmaScript(number float64) string {
	if number == 0 {
		return "0" // minus zero too
	}
	if size := math.Abs(number); size >= 1e-6 && size < 1e21 {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(number, 'e', -1, 64), "e")
	sign, power := exponent[:1], strings.TrimLeft(exponent[1:], "0")
	return digits + "e" + sign + power
}

// parseExactly reads JSON as it is: numbers as they are written, and nothing replaced.
func parseExactly(text []byte) (any, error) {
	if err := checkUnicode(text); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("no JSON: something stands behind the first value")
	}
	return value, nil
}

// checkUnicode refuses what encoding/json would replace in silence: text that is not UTF-8, and escapes of half a
// surrogate pair.
func checkUnicode(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("text that is not UTF-8 has no canonical form")
	}
	half := rune(0) // a first half, whose second must follow at once
	for i := 0; i < len(text); i++ {
		escaped := rune(0)
		if text[i] == '\\' && i+1 < len(text) {
			i++
			if text[i] == 'u' && i+4 < len(text) {
				unit, err := strconv.ParseUint(string(text[i+1:i+5]), 16, 16)
				if err == nil {
					escaped, i = rune(unit), i+4
				}
			}
		}
		isSecond := 0xDC00 <= escaped && escaped <= 0xDFFF
		if isSecond != (half != 0) {
			return errors.New("half a surrogate pair has no canonical form")
		}
		half = 0
		if 0xD800 <= escaped && escaped <= 0xDBFF {
			half = escaped
		}
	}
	return nil
}
