package lastknown

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/internal/durable"
	"github.com/signalbox/signalbox/internal/sealed"
)

const (
	// sealing is more than the bytes that sealing adds.
	sealing = 1 << 20
	// expansion bounds the uncompressed size, as a multiple of MaxBytes.
	expansion = 8
	// leftover is the age at which a temporary file counts as left by an interrupted save.
	// Another node may be writing a younger file.
	leftover = time.Hour
	// temporary is the pattern of files that are being written.
	temporary = ".last-known-*.tmp"
)

// File is where the last known state is kept.
type File struct {
	Path string
	Ring *sealed.Ring
	// Database names the database of the state.
	Database string
	// MaxBytes bounds the compressed size.
	MaxBytes int
}

// place binds the content to its database.
func (f File) place() sealed.Place {
	sum := sha256.Sum256([]byte(f.Database))
	return sealed.Place{Table: "last_known", Column: "content", Row: hex.EncodeToString(sum[:])}
}

// Save replaces the content of the file.
func (f File) Save(content any) error {
	text, err := f.encode(content)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return err
	}
	return durable.Replace(f.Path, temporary, text)
}

func (f File) encode(content any) ([]byte, error) {
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false) // an escape takes six bytes instead of one
	if err := errors.Join(encoder.Encode(content), writer.Close()); err != nil {
		return nil, fmt.Errorf("encoding the last known state: %w", err)
	}
	if packed.Len() > f.MaxBytes {
		return nil, fmt.Errorf("the last known state takes %d bytes compressed, and at most %d are kept: a restart without the database uses the file that was saved before", packed.Len(), f.MaxBytes)
	}
	return f.Ring.Seal(f.place(), packed.Bytes())
}

// Load reads the content of the file. A missing file is fs.ErrNotExist.
func (f File) Load(content any) error {
	file, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, int64(f.MaxBytes)+sealing))
	if err != nil {
		return err
	}
	packed, err := f.Ring.Unseal(f.place(), text)
	if err != nil {
		return err
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.Path, err)
	}
	if err := json.NewDecoder(io.LimitReader(reader, expansion*int64(f.MaxBytes))).Decode(content); err != nil {
		return fmt.Errorf("reading %s: %w", f.Path, err)
	}
	return nil
}

// removeLeftovers removes the files of interrupted saves.
func (f File) removeLeftovers(now time.Time) {
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(f.Path), temporary)) // the pattern is valid
	for _, each := range found {
		if info, err := os.Stat(each); err == nil && now.Sub(info.ModTime()) > leftover {
			_ = os.Remove(each) // the next save tries again
		}
	}
}
