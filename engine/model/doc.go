// Package model asks language models, and knows nothing of the core's state: it
// turns a Propose or Conclude command into one call and the reply into an input.
//
// It speaks the OpenAI dialect over any base URL. Every call is streamed and
// bounded: in time as a whole, in silence, and in size. It never repeats a call:
// the core owns retries, re-asks and budgets, so that each is a fact. The only
// second request it makes is for a server that refuses a form of request, which
// is then remembered.
//
// Invariants: a failure is classified and its text is ours, never the server's,
// so no key and no prompt stands in an error; what tools found reaches a model
// only as the records the core wrote (ModelRecord), delimited as data; prompts say
// nothing of how a run is made, allowed or approved.
package model
