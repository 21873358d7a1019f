package planner

import "strings"

// verbClass groups verbs by what they ask for.
type verbClass int

const (
	verbNone    verbClass = iota // a noun phrase, or a verb that no rule knows
	verbShow                     // show, check, tell me, how many
	verbList                     // list, enumerate
	verbRead                     // read, cat, open
	verbSearch                   // search, grep, find
	verbWrite                    // create, write, save
	verbDelete                   // delete, remove
	verbCopy                     // copy
	verbCompare                  // compare
	verbDigest                   // summarise, explain: reading can be planned, the rest needs a model
	verbRun                      // run, execute: a command follows
	verbPatch                    // replace, append: changes a part of a file
	verbCompute                  // compute, add up
	verbLeave                    // leave out, skip: removes
	verbOther                    // anything that no shipped tool does
)

// wordSet makes a set of the stems of the words in a text.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[stem(w)] = true
	}
	return set
}

// verbsOf lists the verbs of each class. A verb that is not
// here is unknown and never becomes a step.
var verbsOf = []struct {
	class verbClass
	verbs map[string]bool
}{
	{verbShow, wordSet(`show display print view tell give get fetch report check inspect examine see describe output determine
		verify confirm measure identify know learn name audit present provide return retrieve gather collect assess investigate
		bring detect gimme showme lemme need want wonder like review state diagnose query ascertain establish spell dig`)},
	{verbList, wordSet(`list enumerate ls count itemise itemize catalogue catalog`)},
	{verbRead, wordSet(`read cat open peek skim head tail`)},
	{verbSearch, wordSet(`search grep find locate rg scan hunt seek discover`)},
	{verbWrite, wordSet(`create write save store put make record generate produce export dump note document touch place stick jot overwrite`)},
	{verbDelete, wordSet(`delete remove erase rm unlink trash del`)},
	{verbCopy, wordSet(`copy duplicate cp clone`)},
	{verbCompare, wordSet(`compare contrast`)},
	{verbDigest, wordSet(`summarise summarize explain outline digest recap paraphrase analyse analyze interpret`)},
	{verbRun, wordSet(`run execute exec launch invoke`)},
	{verbPatch, wordSet(`replace append insert edit substitute patch prepend modify change update amend add`)},
	{verbCompute, wordSet(`compute calculate sum divide multiply subtract average total convert`)},
	{verbLeave, wordSet(`leave skip omit exclude ignore avoid keep forget drop`)},
	{verbOther, wordSet(`send email mail call phone text ring turn switch resize crop rotate transcribe translate play pause book order buy
		pay sell deploy install uninstall upgrade downgrade restart reboot shutdown kill stop start terminate move rename mv commit push
		rebase merge checkout stash post publish tweet share upload download invite schedule remind set take capture draw paint
		compress zip unzip extract archive encrypt decrypt sign mount unmount format partition close block allow ban connect disconnect
		ping test build compile lint fix repair debug refactor train sing dance cook clean wipe purge pull stage unstage squash monitor watch clear free reset configure enable
		disable allocate increase decrease reduce raise lower migrate backup restore sync scale provision subscribe unsubscribe reply
		forward notify alert message chat tag label hire fire speak say narrate dictate record film photograph teach guess imagine
		pretend invent compose brainstorm recommend suggest advise plan arrange organise organize sort rewrite proofread correct
		reformat adjust tune optimise optimize improve speed hack crack break destroy shred burn lock unlock wake sleep log
		scroll click press tap type swipe watch listen lookup google ask order reserve cancel renew approve transfer withdraw deposit
		submit apply rollback revert reinstall boost mute unmute navigate drive fly deliver ship visit transform chmod chown
		mkdir rmdir sudo curl wget ssh scp rsync apt docker kubectl systemctl service become solve use assign expose bind serve fill protect swap load boot link route expand extend shrink warn prove vote bid trade evict`)},
}

// questionWords open a question; each asks to be shown something.
var questionWords = wordSet(`what which how who whose whom where when why is are was were do does did has have had can could
	whats wheres whos hows whens isnt arent doesnt any anything anyone theres whichever`)

// fillers carry no request of their own. They are skipped before a verb and
// account for themselves everywhere else.
var fillers = wordSet(`a an the this that these those my our your his her its their here there of in on at for from to by with about
	and or as per via into onto within me us we i you it they them he she one ones please pls plz kindly thanks thank just only
	also too both all any some each every whole entire complete exactly really actually currently current right now present moment
	still so well ok okay hey hi hello maybe perhaps quick quickly brief briefly short detail detailed overall altogether together
	simply somehow be is are was were am been being do does did done have has had got get gotten can could will would shall should
	may might must if whether what which who whose how much many where when why than then there anything something everything
	machine box computer server host system laptop pc workstation node vm device instance hardware rig thing stuff let lets go going
	want need like know see look find show list tell give check information info summary overview report status state stat
	statistic figure number value amount level type kind item out up down off over again ahead sure bit lot more most less least
	than first second third last next finally lastly afterwards after before while during meanwhile instead rather but not no
	isnt arent whats hows whos wheres theres thats im ive id youre lemme gimme wanna gotta cant couldnt wouldnt quickly rn asap mate
	bro dude folks guys sir team buddy everyone moreover furthermore additionally additional respectively following listed given
	same different specific particular certain various available existing possible separately human readable table form way
	wonder wondering curious interested mind love appreciate nice great good hope helpful help idea question favor favour chance
	able try make sure remember name called titled entitled us ours hi anyway actual yet ever already afterward afterwards between
	along besides myself yourself tho though again single couple few several total overall plus et ca approximately
	roughly around exact precise general basic come comes came very pretty quite enough another anywhere often through behind count bloody damn hell heck earth`)

// later names times: nothing here runs later or on a schedule. The units count
// only after "every", "each" or "in" with a number.
var (
	later     = wordSet(`tomorrow tonight daily hourly weekly monthly nightly whenever schedule cron`)
	timeUnits = wordSet(`minute hour day week month year morning evening afternoon night monday tuesday wednesday thursday friday
		saturday sunday`)
)

// folders are names of folders that people use bare ("search in src").
var folders = wordSet(`src lib libs bin doc docs test tests testdata data config conf configs etc log logs tmp temp var home project projects
	report reports inbox outbox archive archives note notes script scripts app apps api web server client backend frontend handler
	handlers template templates static asset assets image images public vendor pkg cmd internal example examples build dist out
	target downloads documents desktop music pictures backup backups draft drafts invoice invoices letter letters cache upload
	uploads content posts migration migrations store engine policy spec specs fixture fixtures include plugin plugins module modules
	service services util utils source sources code deploy infra ops tool tools recipe recipes journal photos videos exports
	imports sample samples attachments incoming outgoing results output input shared private work main core common`)

// aliases repair frequent slips and colloquial forms.
var aliases = map[string]string{
	"enviroment": "environment", "enviornment": "environment", "envs": "env", "vars": "variable", "var": "variable", "evn": "env",
	"uncommited": "uncommitted", "unccommitted": "uncommitted", "adress": "address", "adresses": "address", "addr": "address",
	"procs": "process", "proc": "process", "proccess": "process", "proceses": "process", "prcoess": "process", "mem": "memory",
	"memry": "memory", "kernal": "kernel", "kernl": "kernel", "krenel": "kernel", "dsik": "disk", "disc": "disk", "discs": "disk",
	"diks": "disk", "dics": "disk", "repos": "repository", "repo": "repository", "repositories": "repository", "repositry": "repository",
	"dir": "directory", "dirs": "directory", "directories": "directory", "shwo": "show", "lsit": "list", "serach": "search",
	"seach": "search", "chekc": "check", "chck": "check", "fidn": "find", "reda": "read", "hwo": "how", "waht": "what", "wat": "what",
	"whcih": "which", "wich": "which", "teh": "the", "u": "you", "ur": "your", "gb": "gigabyte", "mb": "megabyte", "tb": "terabyte",
	"ipaddress": "ip", "ips": "ip", "cpus": "cpu", "cores": "core", "filesystems": "filesystem", "fs": "filesystem", "hdd": "disk",
	"ssd": "disk", "harddisk": "disk", "harddrive": "disk", "ifaces": "interface", "iface": "interface", "nics": "nic",
	"dependancies": "dependency", "wanna": "want", "listning": "listen", "litsening": "listen", "pots": "pot", "portz": "port",
	"utilization": "utilisation", "util": "utilisation", "newest": "newest", "latest": "newest", "fils": "file", "flie": "file",
	"flies": "flies", "folders": "directory", "folder": "directory", "largest": "biggest", "heaviest": "biggest", "hugest": "biggest",
	"eats": "eat", "eating": "eat", "hogs": "hog", "hogging": "hog", "ate": "eat", "wrote": "write", "written": "write", "lists": "list",
	"contents": "content", "listing": "list", "booted": "boot", "rebooted": "reboot", "restarted": "restart", "cfg": "config",
	"configs": "config", "settings": "setting", "procss": "process", "processses": "process", "delet": "delete", "eldest": "oldest",
	"processors": "processor", "distros": "distro", "usge": "usage", "usags": "usage", "useage": "usage", "wots": "whats", "wot": "what",
}
