package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"sluice/engine/tool"
)

// mailConfig is where mail.send hands its messages over. There is no flag for
// the password: command lines are seen by others.
type mailConfig struct {
	Server       string      `yaml:"server"`
	From         string      `yaml:"from"`
	User         string      `yaml:"user"`
	Password     tool.Secret `yaml:"password"`
	PasswordFile string      `yaml:"password_file"`
	TLS          string      `yaml:"tls"`
}

func (m *mailConfig) flags(f *flag.FlagSet) {
	f.StringVar(&m.Server, "smtp", "", "mail server of mail.send, host:port (SLUICE_SMTP; with SLUICE_SMTP_FROM, _USER, _PASSWORD or _PASSWORD_FILE,\n"+
		"and _TLS: starttls, tls, or none to this machine; default: no mail is sent)")
}

const passwordBytesMax = 4 << 10

// settle fills what the flag left open from the environment, then the file.
func (m *mailConfig) settle(file mailConfig) error {
	m.Server = first(m.Server, os.Getenv("SLUICE_SMTP"), file.Server)
	m.From = first(os.Getenv("SLUICE_SMTP_FROM"), file.From)
	m.User = first(os.Getenv("SLUICE_SMTP_USER"), file.User)
	m.TLS = first(os.Getenv("SLUICE_SMTP_TLS"), file.TLS)
	m.Password = tool.Secret(first(os.Getenv("SLUICE_SMTP_PASSWORD"), string(file.Password)))
	if name := first(os.Getenv("SLUICE_SMTP_PASSWORD_FILE"), file.PasswordFile); name != "" && m.Password == "" {
		raw, err := readLimited(name, passwordBytesMax)
		if err != nil {
			return fmt.Errorf("read mail password: %w", err)
		}
		m.Password = tool.Secret(strings.TrimRight(string(raw), "\r\n"))
	}
	return nil
}

func (m mailConfig) mail() tool.Mail {
	return tool.Mail{Server: m.Server, From: m.From, User: m.User, Password: m.Password, TLS: m.TLS}
}
