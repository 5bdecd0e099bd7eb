package cmd

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// pick returns the circuits that an argument is for: one name, or all known
// ones that match a glob. A circuit may be called like a glob; then that alone
// is meant. The name need not be known.
func pick(known []string, arg, place string) ([]string, error) {
	if !isGlob(arg) || slices.Contains(known, arg) {
		return []string{arg}, nil
	}
	if _, err := path.Match(arg, ""); err != nil {
		return nil, &usageError{
			err:  fmt.Errorf("%q is not a whole glob", arg),
			hint: "*, ? and [a-z] stand for others; \\ before one of them takes its meaning away",
		}
	}
	var picked []string
	for _, name := range known {
		if matches(arg, name) {
			picked = append(picked, name)
		}
	}
	if len(picked) == 0 {
		literal := strings.NewReplacer("*", "", "?", "", "[", "", "]", "").Replace(arg)
		return nil, &usageError{
			err:  fmt.Errorf("no circuit matches %q", arg),
			hint: orElse(didYouMean(literal, known), "looked in "+place),
		}
	}
	return picked, nil
}

func isGlob(arg string) bool { return strings.ContainsAny(arg, "*?[") }

// matches reports whether a name matches a glob, in which * also spans
// slashes: names are not paths.
func matches(glob, name string) bool {
	flat := strings.NewReplacer("/", "\x00")
	ok, err := path.Match(flat.Replace(glob), flat.Replace(name))
	return err == nil && ok
}

// unknownCircuit is the error for a name that the store does not hold.
func (env *Env) unknownCircuit(circuits inventory, name string) error {
	names, _ := circuits.Names()
	return &usageError{
		err:  fmt.Errorf("no circuit is called %q", name),
		hint: orElse(didYouMean(name, names), "looked in "+circuits.Place()),
	}
}

// sayUnknown tells of a circuit to which nothing has to be done, as it was
// never seen.
func (env *Env) sayUnknown(verb string, circuits inventory, name string) {
	env.say(fmt.Sprintf("nothing to %s: no circuit is called %q in %s", verb, name, circuits.Place()))
	names, _ := circuits.Names()
	if near := didYouMean(name, names); near != "" {
		env.say("hint: " + near)
	}
}

// hintUnseen tells of a circuit that was never seen before and is called
// almost like another: the name may be mistyped.
func (env *Env) hintUnseen(circuits inventory, name string) {
	names, _ := circuits.Names()
	names = slices.DeleteFunc(names, func(known string) bool { return known == name })
	if near := didYouMean(name, names); near != "" {
		env.say("hint: no circuit of that name was seen before; " + near)
	}
}
