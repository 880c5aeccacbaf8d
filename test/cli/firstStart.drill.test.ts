import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { credentialsFile } from "../../cli/credentials.ts";
import type { Credentials } from "../../cli/organization.ts";
import { agentClient } from "../agents/agents.ts";
import { openCommandLine } from "./svc.ts";

/** Standard output is a pipe here, as it is for a log collector. */
function expectNoSecrets(output: string, { api_key, admin }: Credentials): void {
  for (const secret of [api_key, admin.password]) expect(output).not.toContain(secret);
  expect(output).not.toMatch(/:\/\/[^\s/]+@/);
  expect(output).toContain("credentials.json");
}

test("svc all saves credentials for a working agent at its first start, reuses them later, and prints no secret without a terminal", async () => {
  const { env, start } = await openCommandLine();
  const file = credentialsFile({ DATA_DIR: env["DATA_DIR"]! });
  /** Starts everything, asks the agent, and stops. Answers with the saved credentials. */
  const startAndAsk = async (): Promise<Credentials> => {
    const running = start("all");
    const ended = once(running, "exit");
    try {
      const lines: string[] = [];
      for await (const line of createInterface(running.stdout)) {
        lines.push(line);
        if (line.startsWith("Ctrl-C")) break;
      }
      const saved = JSON.parse(readFileSync(file, "utf8")) as Credentials;
      const { base_url, agent_id, api_key } = saved;
      const agent = agentClient(base_url, api_key, agent_id);
      expect(lines.find((line) => line.startsWith("Agent API"))).toContain(agent.base);
      expectNoSecrets(lines.join("\n"), saved);
      const { status, output } = await agent.ask("Hello");
      expect([status, output[0].content[0].text]).toEqual(["completed", "Hello"]);
      return saved;
    } finally {
      running.kill();
      await ended;
    }
  };
  const first = await startAndAsk();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await startAndAsk()).toEqual({ ...first, base_url: expect.any(String) });
});

test("svc all on a terminal prints a one-time link to the console that signs the administrator in", async () => {
  const { startOnTerminal } = await openCommandLine();
  const running = startOnTerminal("all");
  const ended = once(running, "exit");
  try {
    const lines: string[] = [];
    for await (const line of createInterface(running.stdout)) {
      lines.push(line.trim());
      if (line.startsWith("Ctrl-C")) break;
    }
    // what was logged before it ends with an empty line
    const first =
      lines.lastIndexOf(
        "",
        lines.findIndex((line) => line.startsWith("Chat API")),
      ) + 1;
    const [, base, code] = /^Console +(http.+)\/console\/#start=(\S+)$/.exec(lines[first]!)!;
    const redeem = async () =>
      fetch(`${base}/api/auth/start`, {
        method: "POST",
        headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
        body: JSON.stringify({ code }),
      });
    expect([(await redeem()).status, (await redeem()).status]).toEqual([200, 401]);
  } finally {
    running.kill();
    await ended;
  }
});
