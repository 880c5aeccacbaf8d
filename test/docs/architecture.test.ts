import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventDefinitions } from "#events/index.ts";
import { openTwoTenants } from "../accounts/tenants.ts";
import { openReader } from "../knowledge/library.ts";
import { SOON, WAITING } from "../workflows/tenant.ts";

/* The drawings of docs/architecture.md: a document and a run go the way that they show. */

const page = readFileSync(new URL("../../docs/architecture.md", import.meta.url), "utf8");
const drawings = [...page.matchAll(/^```\n([^]*?)^```/gm)].map(([, lines = ""]) => lines);
/** Words in a drawing that are names of events. */
const eventsIn = (drawing: string): string[] => drawing.match(/\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b/g) ?? [];
const [ofRequest = "", ofDocument = "", ofRun = ""] = drawings;

const { home } = await openTwoTenants();

/** The types of a stream's events, in order. */
const typesOf = async (stream: string): Promise<string[]> =>
  (await home.made(home.owner("GET", `/events?stream=${stream}&limit=100`))).data.map(({ type }: any) => type);
/** Whether the names come in this order, with others between them. */
const inOrder = (names: string[], types: string[]): boolean => {
  let at = -1;
  return names.every((name) => (at = types.indexOf(name, at + 1)) !== -1);
};

test("docs/architecture.md has three drawings, and every event they name exists", () => {
  expect(drawings).toHaveLength(3);
  expect(eventsIn(ofDocument)).toHaveLength(3);
  expect(eventsIn(ofRun)).toHaveLength(2);
  for (const name of drawings.flatMap(eventsIn)) expect([...eventDefinitions.keys()], name).toContain(name);
});

test("the drawing of a request in docs/architecture.md names the real NATS streams", () => {
  const streams = readFileSync(new URL("../../infra/nats/names.ts", import.meta.url), "utf8");
  const drawn = [...ofRequest.matchAll(/NATS ([A-Z]+)/g)].map(([, name = ""]) => name);
  expect(drawn).toEqual(["COMMANDS", "REACTIONS"]);
  for (const name of drawn) expect(streams).toContain(`_${name}`);
});

test("a document's events follow the drawing of docs/architecture.md", async () => {
  const reader = openReader(home.url, home.credentials.api_key);
  const path = `/v1/knowledge/collections/${await reader.collect("Drawn")}/documents/text`;
  const { id } = await home.made(home.owner("POST", path, { name: "a.md", text: "Hello" }));
  const drawn = eventsIn(ofDocument);
  await expect.poll(() => typesOf(`document-${id}`), SOON).toContain(drawn.at(-1));
  expect(inOrder(drawn, await typesOf(`document-${id}`))).toBe(true);
  expect(inOrder(drawn.toReversed(), await typesOf(`document-${id}`))).toBe(false);
});

test("a run's events follow the drawing of docs/architecture.md, with its wait for an approval in between", async () => {
  const run = await home.start(await home.register(WAITING));
  const [approval] = await home.pending(run);
  await home.made(home.decide(approval));
  await home.untilOver(run);
  const [first, last] = eventsIn(ofRun) as [string, string];
  const types = await typesOf(`run-${run}`);
  expect([types[0], types.at(-1)]).toEqual([first, last]);
  expect(inOrder([first, "ApprovalRequested", "ApprovalDecided", last], types)).toBe(true);
});
