import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { credentialsFile } from "../../cli/credentials.ts";
import type { Credentials } from "../../cli/organization.ts";
import { agentClient } from "../agents/agents.ts";
import { aCommandLine } from "./svc.ts";

test("the first start leaves credentials whose agent answers, and a later one keeps them", async () => {
  const { env, begin } = await aCommandLine();
  const file = credentialsFile({ DATA_DIR: env["DATA_DIR"]!, BASE_URL: "" });
  /** Starts everything, asks the agent, and stops; answers with the credentials that are left. */
  const startAndAsk = async (): Promise<Credentials> => {
    const running = begin("all");
    const ended = once(running, "exit");
    try {
      const told: string[] = [];
      for await (const line of createInterface(running.stdout)) {
        told.push(line);
        if (line.startsWith("Ctrl-C")) break;
      }
      const kept = JSON.parse(readFileSync(file, "utf8")) as Credentials;
      const { base_url, agent_id, api_key } = kept;
      const agent = agentClient(base_url, api_key, agent_id);
      expect(told.find((line) => line.startsWith("Agent API"))).toContain(agent.base);
      const { status, output } = await agent.ask("Hello");
      expect([status, output[0].content[0].text]).toEqual(["completed", "Hello"]);
      return kept;
    } finally {
      running.kill();
      await ended;
    }
  };
  const first = await startAndAsk();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await startAndAsk()).toEqual({ ...first, base_url: expect.any(String) });
});
