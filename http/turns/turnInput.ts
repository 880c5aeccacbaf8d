import { streamName } from "#events/ids.ts";
import { parseLargeJson } from "#events/readLargeJson.ts";
import { Prompt, type Message } from "#events/thread.ts";
import type { ThreadTurn } from "#projections/turns/threadTurns.ts";
import type { Http } from "../base/deps.ts";

/** Reads the input messages of a turn; empty if its stored prompt was deleted. */
export async function readTurnInput(
  { vault }: Pick<Http, "vault">,
  { input, prompt_blob, turn_id, wrapped_key }: ThreadTurn,
): Promise<Message[]> {
  if (input) return input;
  const prompt = prompt_blob && (await vault.get({ thing: streamName("turn", turn_id), wrapped_key }, prompt_blob));
  return prompt ? Prompt.parse(await parseLargeJson(prompt)).messages : [];
}
