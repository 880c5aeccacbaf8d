import type { Answer } from "../attacker.ts";
import { all, KIB, many, MIB, type Attack } from "./attack.ts";

/* Turns and runs that compute, load or remember much. */

export const turns: Attack[] = [
  {
    title: "one file of 25 MiB attached 16 times",
    async run(attacker) {
      const form = new FormData();
      form.append("purpose", "user_data");
      form.append("file", new Blob([Buffer.alloc(25 * MIB - KIB, "a")]), "large.txt");
      const { body } = await attacker.send("POST", "/api/openai/v1/files", form);
      const answers: Answer[] = [];
      for (let n = 0; n < 2; n++)
        answers.push(
          await attacker.turn([
            ...many(16, () => ({ type: "file", file: { file_id: body?.id } })),
            { type: "text", text: "go" },
          ]),
        );
      return answers;
    },
  },
  { title: "offline/echo on 200 KB of spaces", run: (attacker) => all(4, () => attacker.turn(" ".repeat(200 * KIB))) },
  {
    title: "offline/scripted on 450 KB of lines",
    run: (attacker) => all(2, () => attacker.turn("/say a\n".repeat(64_000), { model: "offline/scripted" })),
  },
  {
    title: "offline/extractive on 319 KB without a full stop",
    run: (attacker) => all(2, () => attacker.turn("word ".repeat(64_000), { model: "offline/extractive" })),
  },
  {
    title: "small requests in a thread of 20 MB",
    async run(attacker) {
      const answers: Answer[] = [];
      const { thread } = await attacker.turn("first");
      const say = (text: string) =>
        attacker.send(
          "POST",
          "/api/openai/v1/chat/completions",
          { model: "offline/echo", messages: [{ role: "user", content: text }] },
          { headers: { "x-thread-id": thread! } },
        );
      for (let n = 0; n < 10; n++) answers.push(await say("x ".repeat(MIB)));
      for (let n = 0; n < 10; n++) answers.push(await say("short"));
      answers.push(await attacker.send("GET", `/api/openai/v1/threads/${thread}/messages`));
      return answers;
    },
  },
  {
    title: "model names of 100 KB",
    mustAnswer: { 400: 50 },
    run: (attacker) => all(50, (n) => attacker.turn("hello", { model: `offline/${"m".repeat(100 * KIB)}${n}` })),
  },
  {
    title: "a tool that computes without end, eight at once",
    async run(attacker) {
      const hook = await attacker.hook(`export async function run() { for (;;) {} }`);
      return all(8, () => attacker.send("POST", hook.url, {}, { headers: hook.headers }));
    },
  },
];
