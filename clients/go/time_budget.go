// How long an attempt may take and how long to wait before it. All times are whole milliseconds.

package routerservice

import "math/big"

const (
	reserveMs    = 300
	reserveShare = 20 // at most a twentieth of the deadline is kept back
	// A later attempt's allowance is 32/45 of the one before it.
	later, earlier = 32, 45
	jitterBaseMs   = 200
	jitterCapMs    = 2000
	// patienceMs is the longest Retry-After that is waited for where there is no deadline.
	patienceMs = 60_000
)

// spendableMs is what can be spent on attempts: the deadline less what is kept back for the caller's own work and its
// checks.
func spendableMs(deadlineMs int64) int64 {
	return deadlineMs - min(reserveMs, deadlineMs/reserveShare)
}

// allowancesMs is how spendable is divided over so many attempts, the first getting most.
func allowancesMs(spendable int64, attempts int) []int64 {
	shares, total := make([]*big.Int, attempts), new(big.Int)
	for i := range shares {
		shares[i] = new(big.Int).Mul(power(later, i), power(earlier, attempts-1-i))
		total.Add(total, shares[i])
	}
	divided := make([]int64, attempts)
	for i, share := range shares {
		share.Mul(share, big.NewInt(spendable))
		divided[i] = share.Div(share, total).Int64() // rounded down, what is below zero too
	}
	return divided
}

func power(base int64, exponent int) *big.Int {
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(exponent)), nil)
}

// allowanceMs is how long the first of needs may take of the time that is left; false where it does not fit.
//
// The needs are those of the candidates that are left, the next to be tried first, of which so many attempts can be
// made. The time is divided as the service divided it: the first is in, and each next one joins if every allowance
// still covers its need.
func allowanceMs(left int64, needs []int64, attempts int) (int64, bool) {
	var chosen, allowed []int64
	for _, need := range needs {
		if len(chosen) == attempts {
			break
		}
		longer := append(chosen[:len(chosen):len(chosen)], need)
		divided := allowancesMs(left, len(longer))
		if covers(divided, longer) {
			chosen, allowed = longer, divided
		} else if len(chosen) == 0 {
			return 0, false
		}
	}
	if len(allowed) == 0 {
		return 0, false
	}
	return allowed[0], true
}

func covers(allowances, needs []int64) bool {
	for i, need := range needs {
		if allowances[i] < need {
			return false
		}
	}
	return true
}

// jitterMs is full jitter: how long to wait before a retry, so many retries having gone before and draw in 0 to 1.
func jitterMs(retries int, draw float64) int64 {
	return int64(draw * float64(min(jitterCapMs, jitterBaseMs<<min(retries, 16))))
}

// fits says whether an attempt still fits after a wait; without a deadline (left nil) patience ends some time too.
func fits(wait, need int64, left *int64) bool {
	if left == nil {
		return wait <= patienceMs
	}
	return wait+need <= *left
}
