import { expect } from "vitest";
import type { Decider } from "#events/decider.ts";
import type { NewEvent } from "#events/define.ts";
import type { Command } from "#events/envelope.ts";
import { Rejection } from "#events/rejection.ts";

const AT = "2026-01-01T00:00:00.000Z";

/** A command as a decider's test needs it: the rest of the envelope is filled in. */
export const command = (type: string, data: unknown, rest: Partial<Command> = {}): Command => ({
  id: "c1",
  type,
  stream: "test-1",
  organization_id: "o1",
  principal: "system",
  at: AT,
  deadline: AT,
  request_id: "r1",
  data,
  ...rest,
});

/** `given(decider, events).when(command).then(events)`: the history, the command, the expected events. */
export function given(decider: Decider<any, any, any>, events: NewEvent[] = []) {
  const state = events.reduce((before, event) => decider.evolve(before, event), decider.initial);
  return {
    state,
    when: (asked: Command) => ({
      then: (...expected: NewEvent[]) => expect(decider.decide(asked, state)).toEqual(expected),
      rejected: (code: string) => {
        const refuse = () => decider.decide(asked, state);
        expect(refuse).toThrow(Rejection);
        expect(refuse).toThrow(expect.objectContaining({ code }));
      },
    }),
  };
}
