package planner

// topic is what a tool without required parameters can be asked about. A phrase
// is accepted when a head is there and every other word is accounted for: by a
// head, by explains, or as a filler (P-G: coverage decides, not bm25).
type topic struct {
	tool     string
	heads    [][]string      // stems; the longest first
	explains map[string]bool // words that may stand beside a head
	absorbs  []string        // topics whose heads are mere qualifiers beside this one's
}

// topics are in the order in which their heads are looked for: where two could
// claim a phrase, the first does.
var topics = []topic{
	{
		tool: "env_list",
		heads: heads(`environment variable|env variable|environment setting|shell variable|environment|env|path variable|exported variable|
			leaked secret|printenv`),
		explains: wordSet(`variable define export set leak leakage secret credential token password key api name sensitive look suspicious
			expose contain check mask masked hide hidden accidentally plain plaintext private confidential risky danger dangerous
			unset empty shell session user safe unsafe leaking exposed print loose lying around sitting login setting value data
			inside hold store path start begin prefix exist leaky hygiene bare access aws github database db passwords config configuration`),
		absorbs: []string{"sysinfo", "net_info", "process_list"},
	},
	{
		tool: "net_info",
		heads: heads(`open port|listen port|port listen|listening port|ip address|network interface|network setting|network configuration|network config|
			network address|mac address|network card|network adapter|listening socket|open socket|network connection|open connection|
			tcp connection|listening service|listening process|network port|tcp port|udp port|listening on|hardware address|local address|
			active connection|established connection|bound port|used port|exposed port|ip|nic|ipv4|ipv6|ethernet|
			interface and address|address does machine|address does server|address does host|address does computer|address of machine|
			address of server|address of host|machine address|address machine|listener|ifconfig|netstat|lsof|default route|socket listen|
			port|network|interface|socket|tcp|udp|listen|networking`),
		explains: wordSet(`open listen network setting config configuration card adapter local active establish tcp udp own owner process program
			application app service use free number mac ethernet address interface connection host loopback bind bound anyone who taken
			occupied ip traffic assign assigned belong answer accept incoming behind wait using in socket port exposed serve expose
			daemon bytes received sent physical virtual link reachable v4 v6 version busy pid pids name open hardware hold holding`),
		absorbs: []string{"process_list", "sysinfo"},
	},
	{
		tool: "process_list",
		heads: heads(`process|pid|zombie|running program|running application|running app|running service|running daemon|
			running task|what is running|whats running|running software|program run|program is running|program are running|application run|
			application are running|app run|app are running|service run|service are running|task manager|background task|memory hog|
			cpu hog|resource hog|task run|task are running|
			daemon`),
		explains: wordSet(`run active memory cpu ram resource top hungry hungriest biggest greedy greediest eat use consume hog consumption usage own
			user name id start oldest newest alive background zombie sort order take processor core load heavy busy busiest time command
			line parent child program application app service daemon task pid by all many count software percent usage utilisation
			consumer hogging swap idle sleeping thread live highest lowest root descending ascending largest smallest`),
		absorbs: []string{"sysinfo"},
	},
	{
		tool: "disk_usage",
		heads: heads(`disk usage|disk space|free space|storage space|file system|filesystem|mount point|mountpoint|hard drive|hard disk|space left|
			drive space|space on disk|disk utilisation|disk capacity|storage capacity|storage usage|space usage|space use|disk consumption|
			space available|inode|df|room left|how full|how much space|much space|mounted volume|used space|storage left|space free|disk full|disk fill|disk|partition|
			storage|drive|volume|mount`),
		explains: wordSet(`full fullest free use usage left remain available percent capacity size below above under nearly almost run big biggest
			small smallest room gigabyte terabyte megabyte hard root local enough attention consume consumption occupied fill empty
			emptiest mount space disk byte partition close reach exceed high low threshold physical attached device worst tight fuller
			unused utilisation gig gigs headroom critical drive storage volume filesystem short ten twenty fifty ninety half three
			quarter largest highest per remaining`),
	},
	{
		tool: "sysinfo",
		heads: heads(`kernel version|kernel release|kernel|uptime|operating system|os|cpu|ram|hostname|host name|distro|swap|load average|memory usage|
			free memory|available memory|total memory|memory use|been up|boot time|last boot|been run|been on|last reboot|been alive|up since|
			run since|uname|linux version|linux distribution|processor|system information|system info|hardware info|system detail|
			machine detail|machine info|system overview|system spec|machine spec|hardware spec|physical memory|main memory|memory left|
			memory available|memory free|cpu core|name of machine|64 bit|32 bit|computer called|machine called|server called|box called|host called|overview of machine|overview of system|overview of server|overview of computer|info about machine|info on machine|
			information about machine|information about system|information about server|detail about machine|detail of machine|spec of machine|
			state of machine|status of machine|machine status|machine name|computer name|processor architecture|cpu architecture|
			system memory|installed memory|used memory|system load|cpu load|last start|restart last|last restart|since boot|cpu usage|cpu model|
			memory|load|core|architecture|linux|distribution|platform|spec|arch|boot|reboot`),
		explains: wordSet(`version release free use available total left usage utilisation percent average model speed long since up run boot reboot
			restart last time physical logical install detail spec processor core memory architecture size gigabyte megabyte terabyte 32 64
			bit build name operating system type linux unix hardware enough virtual number uptime kernel os distribution consumption
			consume big old today days hours busy remaining fast on thread manufacturer platform one five fifteen minute`),
	},
}

// heads splits a list of head phrases into stems, the longest phrase first.
func heads(list string) [][]string {
	out := sequences(list)
	for _, phrase := range out {
		for i, w := range phrase {
			phrase[i] = stem(w)
		}
	}
	return out
}
