package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// vaultFile holds what keys are encrypted with: beside the database, so that a
// copy of the database alone gives no key away.
const vaultFile = "settings.key"

const vaultKeyBytes = 32

// vault encrypts the keys of model servers (AES-256-GCM).
type vault struct{ path string }

func newVault(data string) *vault { return &vault{filepath.Join(data, vaultFile)} }

// sealed is an encrypted key. It opens only for the role and the host it was
// given for: who edits the database can not send it elsewhere.
func (v *vault) seal(role, baseURL, key string) (string, error) {
	box, err := v.box(true)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, box.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return "", fmt.Errorf("encrypt key: %w", err)
	}
	return hex.EncodeToString(box.Seal(nonce, nonce, []byte(key), place(role, baseURL))), nil
}

// open decrypts what seal gave.
func (v *vault) open(role, baseURL, text string) (string, error) {
	box, err := v.box(false)
	if err != nil {
		return "", err
	}
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) < box.NonceSize() {
		return "", errors.New("the stored key is damaged; set it again")
	}
	key, err := box.Open(nil, raw[:box.NonceSize()], raw[box.NonceSize():], place(role, baseURL))
	if err != nil {
		return "", fmt.Errorf("the stored key was given for another host, or not with this %s; set it again", vaultFile)
	}
	return string(key), nil
}

// place is what a key belongs to.
func place(role, baseURL string) []byte {
	u, err := url.Parse(baseURL)
	if err != nil {
		return []byte(role)
	}
	return []byte(role + " " + u.Scheme + "://" + strings.ToLower(u.Host))
}

func (v *vault) box(create bool) (cipher.AEAD, error) {
	key, err := v.read()
	if errors.Is(err, fs.ErrNotExist) && create {
		key, err = v.create()
	}
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (v *vault) read() ([]byte, error) {
	raw, err := os.ReadFile(v.path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", vaultFile, err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(raw)))
	if err != nil || len(key) != vaultKeyBytes {
		return nil, fmt.Errorf("read %s: it is not a key; restore it from a backup, or remove it and set the keys again: %w", vaultFile, errUsage)
	}
	return key, nil
}

func (v *vault) create() ([]byte, error) {
	key := make([]byte, vaultKeyBytes)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make %s: %w", vaultFile, err)
	}
	f, err := os.OpenFile(v.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", vaultFile, err)
	}
	_, err = f.WriteString(hex.EncodeToString(key) + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, fmt.Errorf("make %s: %w", vaultFile, err)
	}
	return key, nil
}
