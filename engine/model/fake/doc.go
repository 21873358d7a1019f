// Package fake is a scripted model server: the OpenAI dialect over real HTTP,
// streamed, with usage, faults and seeded latencies. `sluice fakemodel` runs it
// for people; tests run it in process and read what it was asked.
//
// It is a model without intelligence, never part of an answer of Sluice itself:
// whoever wants it starts it and points a base URL at it.
package fake
