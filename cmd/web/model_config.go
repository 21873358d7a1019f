package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"sluice/engine"
	"sluice/engine/model"
)

// Roles of models (R94).
const (
	plannerRole  = "planner"
	executorRole = "executor"
)

var modelRoles = []string{plannerRole, executorRole}

// Defaults and bounds of a role.
const (
	maxOutputDefault = 4_096
	maxOutputMax     = 1 << 20
	priceMax         = 100_000 // USD per million tokens
	unpriced         = -1
)

// modelFields is what one source says of one role; "" is nothing. Prices are in
// USD per million tokens.
type modelFields struct {
	URL       string `yaml:"base_url" json:"base_url"`
	Model     string `yaml:"model" json:"model"`
	Key       string `yaml:"key" json:"-"`
	KeyFile   string `yaml:"key_file" json:"-"`
	MaxOutput string `yaml:"max_output" json:"max_output"`
	PriceIn   string `yaml:"price_in" json:"price_in"`
	PriceOut  string `yaml:"price_out" json:"price_out"`
	Timeout   string `yaml:"timeout_s" json:"timeout_s"`
}

// modelFlags are the fields of both roles, and of each alone.
type modelFlags struct {
	Both     modelFields `yaml:"both"`
	Planner  modelFields `yaml:"planner"`
	Executor modelFields `yaml:"executor"`
}

// of gives what a source says of a role itself, then what it says of both.
func (m *modelFlags) of(role string) []*modelFields {
	if role == plannerRole {
		return []*modelFields{&m.Planner, &m.Both}
	}
	return []*modelFields{&m.Executor, &m.Both}
}

// each walks the sections with the words of their flags and variables.
func (m *modelFlags) each(visit func(section, nameWord string, f *modelFields)) {
	visit("model", "name", &m.Both)
	visit("planner", "model", &m.Planner)
	visit("executor", "model", &m.Executor)
}

// fields pairs a section's fields with the ends of their names.
func (f *modelFields) fields(nameWord string) map[string]*string {
	return map[string]*string{"url": &f.URL, nameWord: &f.Model, "key-file": &f.KeyFile, "max-output": &f.MaxOutput,
		"price-in": &f.PriceIn, "price-out": &f.PriceOut, "timeout": &f.Timeout}
}

// declare adds the flags of models.
func (m *modelFlags) declare(f *flag.FlagSet) {
	m.each(func(section, nameWord string, fields *modelFields) {
		whose := "of the " + section
		if section == "model" {
			whose = "of planner and executor"
		}
		says := map[string]string{
			"url": "base URL " + whose + ", for instance http://127.0.0.1:11434/v1", nameWord: "model " + whose + ", as its server knows it",
			"key-file": "file with the key " + whose, "max-output": "tokens of one answer " + whose + " (default 4096)",
			"price-in": "USD per million input tokens " + whose, "price-out": "USD per million output tokens " + whose,
			"timeout": "seconds one call may take " + whose + " (default 120)"}
		for end, into := range fields.fields(nameWord) {
			f.StringVar(into, section+"-"+end, "", says[end]+" ("+variable(section, end)+")")
		}
	})
}

func variable(section, end string) string {
	return "SLUICE_" + strings.ToUpper(section+"_"+strings.ReplaceAll(end, "-", "_"))
}

// modelEnvironment reads the variables; a key may stand in one itself.
func modelEnvironment() modelFlags {
	var m modelFlags
	m.each(func(section, nameWord string, fields *modelFields) {
		for end, into := range fields.fields(nameWord) {
			*into = os.Getenv(variable(section, end))
		}
		fields.Key = os.Getenv(variable(section, "key"))
	})
	return m
}

// readKeys puts the content of key files where their names stand.
func (m *modelFlags) readKeys() error {
	var failed error
	m.each(func(section, _ string, fields *modelFields) {
		if fields.KeyFile == "" {
			return
		}
		raw, err := readLimited(fields.KeyFile, model.KeyBytesMax)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("read key of %s: %w", section, err))
		}
		fields.Key = strings.TrimSpace(string(raw))
	})
	return failed
}

// source is one place that settings come from, the strongest first.
type source struct {
	name  string // "flag", "environment", "file" or "page"
	flags *modelFlags
}

// modelConfig is what a role comes to.
type modelConfig struct {
	role     string
	endpoint model.Endpoint
	output   int64
	priceIn  int64             // micro-USD per million tokens, -1 unpriced
	priceOut int64             // the same
	from     map[string]string // by field: which source it is from; "" for a default
	problem  string            // why it can not be used, "" when it can or nothing is set
}

func (c *modelConfig) isSet() bool { return c.endpoint.BaseURL != "" || c.endpoint.Model != "" }

func (c *modelConfig) usable() bool { return c.isSet() && c.problem == "" }

// info is what runs pin of a role (P29).
func (c *modelConfig) info(overhead int64) engine.ModelInfo {
	if !c.usable() {
		return engine.ModelInfo{}
	}
	return engine.ModelInfo{Name: c.endpoint.Model, By: "model:" + c.endpoint.Model, MaxOutput: c.output, Overhead: overhead,
		PriceIn: c.priceIn, PriceOut: c.priceOut}
}

// chosen is a field's value with where it is from.
type chosen struct{ value, from string }

// choose takes the strongest source that says something of a field.
func choose(sources []source, role string, field func(*modelFields) string) chosen {
	for _, s := range sources {
		for _, fields := range s.flags.of(role) {
			if v := strings.TrimSpace(field(fields)); v != "" {
				return chosen{v, s.name}
			}
		}
	}
	return chosen{}
}

// mergeRole works out one role. Of the executor, what nobody sets is the
// planner's.
func mergeRole(sources []source, role string, planner *modelConfig) modelConfig {
	c := modelConfig{role: role, from: map[string]string{}}
	get := func(name string, field func(*modelFields) string) string {
		got := choose(sources, role, field)
		if got.from != "" {
			c.from[name] = got.from
		}
		return got.value
	}
	c.endpoint.BaseURL = get("base_url", func(f *modelFields) string { return f.URL })
	c.endpoint.Model = get("model", func(f *modelFields) string { return f.Model })
	c.endpoint.Key = get("key", func(f *modelFields) string { return f.Key })
	if c.from["base_url"] == "page" && c.from["key"] != "" && c.from["key"] != "page" {
		c.endpoint.Key = "" // who sets an address on the page sends no key of the machine's there
		delete(c.from, "key")
	}
	c.inherit(planner)
	err := c.numbers(get)
	if err == nil && c.isSet() {
		err = errors.Join(c.endpoint.Check(), c.fits())
	}
	if err != nil {
		c.problem = err.Error()
	}
	return c
}

// fits refuses a model of which no run could make a single call: what a call may
// use is reserved before it (R62).
func (c *modelConfig) fits() error {
	run, _ := engine.ProfileByName("")
	info := engine.ModelInfo{PriceIn: c.priceIn, PriceOut: c.priceOut}
	most := info.Priced(engine.Usage{InputTokens: promptTokensMin, OutputTokens: c.output})
	switch {
	case c.output > run.OutputTokens:
		return fmt.Errorf("max_output is %d tokens, and a whole run may use %d: set it lower", c.output, run.OutputTokens)
	case most.CostMicroUSD > run.CostMicroUSD:
		return fmt.Errorf("one answer may cost %s USD, and a whole run may cost %s: lower max_output, or correct the prices",
			priceText(most.CostMicroUSD), priceText(run.CostMicroUSD))
	}
	return nil
}

// promptTokensMin is about what every prompt has.
const promptTokensMin = 2_000

// inherit fills the executor's address and model from the planner's. With an
// address of the page no key of the machine's goes along.
func (c *modelConfig) inherit(planner *modelConfig) {
	if planner == nil || !planner.isSet() {
		return
	}
	if c.endpoint.BaseURL == "" {
		c.endpoint.BaseURL, c.from["base_url"] = planner.endpoint.BaseURL, plannerRole
		isMachines := planner.from["base_url"] == "page" && c.from["key"] != "page"
		if c.endpoint.Key == "" || isMachines {
			c.endpoint.Key = planner.endpoint.Key
			c.from["key"] = plannerRole
		}
	}
	if c.endpoint.Model == "" {
		c.endpoint.Model, c.from["model"] = planner.endpoint.Model, plannerRole
		c.priceIn, c.priceOut = planner.priceIn, planner.priceOut
		return
	}
	c.priceIn, c.priceOut = unpriced, unpriced
}

func (c *modelConfig) numbers(get func(string, func(*modelFields) string) string) error {
	if c.from["model"] != plannerRole {
		c.priceIn, c.priceOut = unpriced, unpriced
	}
	c.output = maxOutputDefault
	var errs [4]error
	if text := get("max_output", func(f *modelFields) string { return f.MaxOutput }); text != "" {
		c.output, errs[0] = wholeNumber("max_output", text, maxOutputMax)
	}
	if text := get("timeout_s", func(f *modelFields) string { return f.Timeout }); text != "" {
		var seconds int64
		seconds, errs[1] = wholeNumber("timeout_s", text, int64(model.TimeoutMax/time.Second))
		c.endpoint.Timeout = time.Duration(seconds) * time.Second
	} else {
		c.endpoint.Timeout = model.TimeoutDefault
	}
	if text := get("price_in", func(f *modelFields) string { return f.PriceIn }); text != "" {
		c.priceIn, errs[2] = price("price_in", text)
	}
	if text := get("price_out", func(f *modelFields) string { return f.PriceOut }); text != "" {
		c.priceOut, errs[3] = price("price_out", text)
	}
	return errors.Join(errs[:]...)
}

func wholeNumber(name, text string, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%s is a whole number from 1 to %d, not %.40q", name, most, text)
	}
	return n, nil
}

// price reads USD per million tokens as micro-USD.
func price(name, text string) (int64, error) {
	usd, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(usd) || usd < 0 || usd > priceMax {
		return unpriced, fmt.Errorf("%s is in USD per million tokens, from 0 to %d, not %.40q", name, priceMax, text)
	}
	return int64(math.Round(usd * 1e6)), nil
}

// priceText is the inverse of price, "" for none.
func priceText(micro int64) string {
	if micro < 0 {
		return ""
	}
	return strconv.FormatFloat(float64(micro)/1e6, 'f', -1, 64)
}
