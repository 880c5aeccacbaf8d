import { expect, test } from "vitest";
import { Unavailable } from "#events/ports.ts";
import type { BusContext } from "./context.ts";
import { createDeadLetters } from "./deadLetters.ts";
import { namesFor } from "./names.ts";

test("dead letters are unavailable while JetStream does not answer, and not an error of the service", async () => {
  const refuse = async () => Promise.reject(new Error("timeout"));
  const context = {
    connection: { during: (request: Promise<unknown>) => request },
    streams: { jsm: { streams: { getMessage: refuse, deleteMessage: refuse } } },
    names: namesFor("dead"),
  } as unknown as BusContext;
  const letters = createDeadLetters(context);
  await expect(letters.list(1)).rejects.toThrow(Unavailable);
  await expect(letters.remove(1)).rejects.toThrow("The dead letter cannot be read now");
  await expect(letters.replay(1)).rejects.toThrow(Unavailable);
});
