package render

import (
	"io"
	"strings"
)

// Setting is the value that a flag has for a circuit.
type Setting struct {
	Flag   string
	Values []string // none: off; several for a flag that may be repeated
	List   bool     // it may be repeated
	From   string   // default, config or environment
	Source string   // the variable, or the file and line; "" for a default
	Short  string   // the same in few words
}

// Settings is what a circuit's runs go by.
type Settings struct {
	File     string // "" when there is no place for one
	Exists   bool
	Circuit  string   // "" for none in particular
	Circuits []string // those that have a table in the file
	Settings []Setting
}

// Write writes the settings as a table.
func (s Settings) Write(w io.Writer, style Style) error {
	columns := []column{{title: "FLAG"}, {title: "VALUE"}, {title: "FROM"}}
	rows := make([][]string, len(s.Settings))
	for i, setting := range s.Settings {
		value := "-"
		if len(setting.Values) > 0 {
			value = Safe(strings.Join(setting.Values, "; "))
		}
		rows[i] = []string{setting.Flag, value, setting.Short}
	}
	return writeTable(w, columns, rows, 0, func(row, _ int, cell string) string {
		if style.Colour && (row < 0 || s.Settings[row].Source == "") {
			return paint(faint, cell)
		}
		return cell
	})
}

// The documented schema of `cb config --json`: every key is always there; null
// stands for what is off or does not apply.
type settingsJSON struct {
	File     *string       `json:"file"`
	Exists   bool          `json:"exists"`
	Circuit  *string       `json:"circuit"`
	Circuits []string      `json:"circuits"`
	Settings []settingJSON `json:"settings"`
}

type settingJSON struct {
	Flag   string  `json:"flag"`
	Value  any     `json:"value"` // a string; strings for a flag that may be repeated
	From   string  `json:"from"`
	Source *string `json:"source"`
}

// WriteJSON writes the settings in the documented schema.
func (s Settings) WriteJSON(w io.Writer) error {
	object := settingsJSON{
		File: text(s.File), Exists: s.Exists, Circuit: text(s.Circuit),
		Circuits: append([]string{}, s.Circuits...), Settings: make([]settingJSON, len(s.Settings)),
	}
	for i, setting := range s.Settings {
		row := settingJSON{Flag: setting.Flag, From: setting.From, Source: text(setting.Source)}
		switch {
		case setting.List:
			row.Value = append([]string{}, setting.Values...)
		case len(setting.Values) > 0:
			row.Value = setting.Values[0]
		}
		object.Settings[i] = row
	}
	return encode(w, "", object)
}
