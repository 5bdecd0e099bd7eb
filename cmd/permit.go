package cmd

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"cb/internal/breaker"
	"cb/internal/store"
)

// permit is what acquire hands out and record takes back: the core's permit
// with all that is needed to judge the outcome by the rules of the acquirer.
type permit struct {
	Name      string         `json:"name"`
	Permit    breaker.Permit `json:"permit"`
	Policy    breaker.Policy `json:"policy"`
	SlowAfter time.Duration  `json:"slow_after,omitempty"`
	At        time.Time      `json:"at"`             // when it was acquired
	Void      bool           `json:"void,omitempty"` // recording it does nothing
}

// word writes the permit as one printable word, which no name can be.
func (p permit) word() (string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("write permit: %w", err)
	}
	return store.PermitPrefix + base64.RawURLEncoding.EncodeToString(text), nil
}

// readPermit reads what word wrote.
func readPermit(word string) (permit, error) {
	var p permit
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(word, store.PermitPrefix))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err == nil {
		err = errors.Join(store.CheckName(p.Name), p.Policy.Validate())
	}
	if err != nil {
		return permit{}, &usageError{
			err:  errors.New("this is not a whole permit"),
			hint: `permit=$(cb acquire NAME) || exit; ...; cb record "$permit" success`,
		}
	}
	return p, nil
}
