package planner

import (
	"path"
	"slices"
	"strings"
)

// fileWords may stand in a phrase about files and folders.
var fileWords = wordSet(`file directory content document text line entry item subfolder subdirectory tree biggest newest oldest smallest recent
	recently modify modified change changed large larger small big size date name sort order extension markdown csv json yaml python golang
	gigabyte megabyte kilobyte byte kb hidden recursive recursively inside exist empty created updated edited old new newer older bigger
	longest shortest type plain ascending descending alphabetical alphabetically day week month hour minute today yesterday sorted workspace
	word character paragraph beginning end start raw written stand everything below nested full complete filename space pieces piece number
	contain folder path directly page section stored saved sits sit lie live matching page heading note structure hierarchy layout remain remaining`)

// searchWords say that a text is looked for.
var searchWords = wordSet(`contain mention occurrence occur appear include reference define import match word string phrase term pattern expression
	keyword use call call find search grep case insensitive insensitively sensitive ignore ignoring`)

// mediaSuffixes are files that hold no text to be read.
var mediaSuffixes = strings.Fields(`.png .jpg .jpeg .gif .bmp .webp .ico .tiff .heic .psd .mp3 .wav .flac .ogg .m4a .aac .mp4 .mkv .avi .mov .webm
	.pdf .doc .docx .xls .xlsx .ppt .pptx .odt .ods .zip .tar .gz .tgz .bz2 .xz .rar .7z .exe .dll .so .bin .iso .dmg .apk .deb .rpm .class .o
	.sqlite .db .ttf .woff .woff2`)

// Reasons that several rules give.
const (
	outsideText = "the path is outside the workspace, which is all that the file tools reach"
	mediaText   = "no tool here understands this kind of file"
	globText    = "a pattern names no single file"
	whichText   = "it is not clear which file is meant"
)

func isMedia(p string) bool {
	return slices.Contains(mediaSuffixes, strings.ToLower(path.Ext(p)))
}

// files lists the places that are written like files, folders and patterns left
// out, and quoted names where no other file is named.
func (r *reading) files() []place {
	var out []place
	for _, p := range r.places() {
		if !p.isDir && !p.glob {
			out = append(out, p)
		}
	}
	if len(out) > 0 {
		return out
	}
	for i, t := range r.body {
		before := at(r.body, i-1)
		asksFor := !r.question || placeWords[before.text] || before.text == "does" || before.text == "file"
		if t.kind == quoted && r.hasVerb && asksFor && looksLikePath(t.text) && (fileForm.MatchString(strings.ReplaceAll(path.Base(t.text), " ", "_")) || r.namesFile(i)) {
			out = append(out, newPlace(t.text, i))
		}
		if t.kind == word && r.namesFile(i) && !fillers[t.stem] && !fileWords[t.stem] && !placeWords[t.text] {
			out = append(out, newPlace(t.raw, i))
		}
	}
	return out
}

// namesFile says whether "file" or "file called" stands before the position.
func (r *reading) namesFile(i int) bool {
	before := at(r.body, i-1)
	if before.text == "called" || before.text == "named" {
		return at(r.body, i-2).text == "file" || at(r.body, i-2).text == "document"
	}
	return before.text == "file" && r.body[i].kind == quoted
}

// check says why a place cannot be read or changed as a text file, "" if it can.
func (p place) check() string {
	switch {
	case p.outside:
		return outsideText
	case p.glob:
		return globText
	case isMedia(p.path):
		return mediaText
	}
	return ""
}
