import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { afterFile } from "../cleanUp.ts";
import { clientOf, fileForm } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";

/** A proxy that notes which path was asked with which credential. */
async function startRecorder(url: string) {
  const asked: { path: string; bearer: string }[] = [];
  const forward = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const chunks = await incoming.toArray();
    const { authorization = "", "content-type": type } = incoming.headers;
    asked.push({ path: incoming.url!, bearer: authorization.replace("Bearer ", "") });
    const answer = await fetch(url + incoming.url!, {
      method: incoming.method!,
      headers: { authorization, ...(type && { "content-type": type }) },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    outgoing.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  };
  const server = createServer((incoming, outgoing) => void forward(incoming, outgoing));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

test("a running platform sends the master key only to create its keys", async () => {
  const { addresses, ...deployment } = await testDeployment();
  const recorder = await startRecorder(addresses.meili_url);
  const platform = await startPlatform({
    deployment: { ...deployment, addresses: { ...addresses, meili_url: recorder.url } },
  });
  const send = clientOf({ chat: platform.url }, (await platform.organization()).api_key);
  const knowledge = `${platform.url}/api/v1/knowledge`;
  const { body: collection } = await send("POST", `${knowledge}/collections`, { name: "Shelf" });
  const form = fileForm("The lighthouse keeps its light.", "lighthouse.txt");
  expect((await send("POST", `${knowledge}/collections/${collection.slug}/documents`, form)).status).toBeLessThan(300);
  const search = async () => (await send("POST", `${knowledge}/search`, { query: "lighthouse" })).text;
  await expect.poll(search).toContain("keeps its light");
  await expect.poll(async () => (await fetch(`${platform.url}/readyz`)).status).toBe(200);
  const byMaster = recorder.asked.filter(({ bearer }) => bearer === addresses.meili_master_key);
  expect(byMaster.length).toBeGreaterThan(0);
  expect(byMaster.filter(({ path }) => !path.startsWith("/keys"))).toEqual([]);
});
