import type { Answer, Attacker } from "../attacker.ts";
import { many, MIB, type Attack } from "./attack.ts";

/* Requests at the limits of the API: 16 attachments of 25 MiB, which are stored files. */

const CHAT = "/api/openai/v1";
const MAX_BYTES = 25 * MIB;

type Kind = "image/png" | "text/plain";

/** Uploads different files of the largest size; answers with their ids. */
async function uploadFiles(attacker: Attacker, kinds: Kind[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [n, type] of kinds.entries()) {
    const form = new FormData();
    const beginning = Buffer.from(`file ${n}\n`);
    const content = Buffer.concat([beginning, Buffer.alloc(MAX_BYTES - beginning.length, "a line of text\n")]);
    form.append("file", new Blob([content], { type }), type === "text/plain" ? `${n}.txt` : `${n}.png`);
    const { status, body } = await attacker.send("POST", `${CHAT}/files`, form);
    if (status !== 201) throw new Error(`POST /files: ${status} ${JSON.stringify(body)}`);
    ids.push(body.id);
  }
  return ids;
}

/** Turns with files that are uploaded before anybody is watched: that takes longer than the turns. */
function withFiles(kinds: Kind[], ask: (attacker: Attacker, attachments: string[]) => Promise<Answer[]>) {
  let attachments: string[];
  return {
    prepare: async (attacker: Attacker) => (attachments = await uploadFiles(attacker, kinds)),
    run: (attacker: Attacker) => ask(attacker, attachments),
  };
}

/** A turn, and a later one of its thread. */
async function askTwice(attacker: Attacker, attachments: string[]): Promise<Answer[]> {
  const first = await attacker.turn("see", { attachments });
  const later = await attacker.send(
    "POST",
    `${CHAT}/chat/completions`,
    { model: "offline/echo", messages: [{ role: "user", content: "and now?" }] },
    { headers: { "x-thread-id": first.thread! } },
  );
  return [first, later];
}

/** Nothing listens at the provider's address: these files are too large to be sent to it. */
async function askProvider(attacker: Attacker, attachments: string[]): Promise<Answer[]> {
  const settings = { api_key: "sk", base_url: "http://127.0.0.1:9", format: "openai" };
  await attacker.owner("PUT", "/api/providers/nobody", settings);
  return [await attacker.turn("see", { model: "nobody/m", attachments })];
}

const TEXTS = many(16, (): Kind => "text/plain");
const IMAGES = many(16, (): Kind => "image/png");
const BOTH = many(16, (n): Kind => (n % 2 === 0 ? "text/plain" : "image/png"));

/** A turn holds its 400 MiB of files. With what the process holds anyway, runs took 888 to 1,023 MiB. */
const maxMemory = 1_250 * MIB;

export const largeFiles: Attack[] = [
  { title: "16 texts of 25 MiB in one turn", kinds: TEXTS },
  { title: "16 images of 25 MiB in one turn", kinds: IMAGES },
  { title: "8 texts and 8 images of 25 MiB in one turn", kinds: BOTH },
]
  .map(({ title, kinds }): Attack => ({ title, maxMemory, mustAnswer: { 200: 2 }, ...withFiles(kinds, askTwice) }))
  .concat({
    // they are refused before they are loaded
    title: "16 images of 25 MiB for a provider",
    mayAnswer: [502],
    mustAnswer: { 502: 1 },
    ...withFiles(IMAGES, askProvider),
  });
