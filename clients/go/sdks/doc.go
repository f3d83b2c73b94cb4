// Package sdks tests what SDKs return, as they are, against what the client makes of it.
package sdks
