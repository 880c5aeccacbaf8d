import type { EventLog, Keyring, StreamHead } from "#events/ports.ts";
import { secret as decider, type SecretState } from "./deciders/secret.ts";
import { stateOf } from "./states.ts";

interface SecretDeps {
  log: Pick<EventLog, "read">;
  keyring: Pick<Keyring, "openSecret">;
}

/** The value of an organization's secret by the head of its stream, which is to be read fresh; undefined where none is set. */
export async function secretValue(
  { log, keyring }: SecretDeps,
  organization: string,
  name: string,
  head: StreamHead | undefined,
): Promise<string | undefined> {
  const state: SecretState = head ? (await stateOf(log, head, decider)).state : decider.initial;
  return state.status === "set" ? keyring.openSecret(`secret:${organization}:${name}`, state.sealed_value) : undefined;
}
