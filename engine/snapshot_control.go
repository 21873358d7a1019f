package engine

func (r *reserve) pack(p *packer) {
	for _, v := range r.each() {
		p.int(*v)
	}
}

func (r *reserve) unpack(p *packer) {
	for _, v := range r.each() {
		p.readInt(v)
	}
}

func (m *ModelInfo) pack(p *packer) {
	p.strs([]string{m.Name, m.By})
	for _, n := range []int64{m.MaxOutput, m.Overhead, m.PriceIn, m.PriceOut} {
		p.int(n)
	}
}

func (m *ModelInfo) unpack(p *packer) {
	var words []string
	p.readStrs(&words)
	if len(words) != 2 {
		p.bad = true
		return
	}
	m.Name, m.By = words[0], words[1]
	for _, n := range []*int64{&m.MaxOutput, &m.Overhead, &m.PriceIn, &m.PriceOut} {
		p.readInt(n)
	}
}

func (c *control) pack(p *packer) {
	p.strs([]string{c.id, c.by, c.fell})
	for _, n := range []int64{int64(c.version), int64(c.failures), c.usage.InputTokens, c.usage.OutputTokens, c.usage.CostMicroUSD} {
		p.int(n)
	}
	p.bool(c.usage.Estimated)
	p.int(int64(len(c.again)))
	for i := range c.again {
		p.str(c.again[i].Output)
		p.str(c.again[i].Error)
	}
	c.node.pack(p)
}

func (c *control) unpack(p *packer) {
	var words []string
	p.readStrs(&words)
	if len(words) != 3 {
		p.bad = true
		return
	}
	c.id, c.by, c.fell = words[0], words[1], words[2]
	p.readN(&c.version)
	p.readN(&c.failures)
	for _, n := range []*int64{&c.usage.InputTokens, &c.usage.OutputTokens, &c.usage.CostMicroUSD} {
		p.readInt(n)
	}
	c.usage.Estimated = p.readBool()
	for range p.readLen() {
		var a Again
		p.readStr(&a.Output)
		p.readStr(&a.Error)
		c.again = append(c.again, a)
	}
	c.node.unpack(p)
}
