import type { EventLog, StreamHead } from "#events/ports.ts";
import type { Keyring } from "#events/vault.ts";
import { secret as decider, type SecretState } from "./deciders/secret.ts";
import { readState } from "./states.ts";

interface SecretDeps {
  log: Pick<EventLog, "read">;
  keyring: Pick<Keyring, "openSecret">;
}

/** An organization's secret; undefined if it is not set. `head` must have just been read. */
export async function readSecretValue(
  { log, keyring }: SecretDeps,
  organization: string,
  name: string,
  head: StreamHead | undefined,
): Promise<string | undefined> {
  const state: SecretState = head ? (await readState(log, head, decider)).state : decider.initial;
  return state.status === "set" ? keyring.openSecret(`secret:${organization}:${name}`, state.sealed_value) : undefined;
}
