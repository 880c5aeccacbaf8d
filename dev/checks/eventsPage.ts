import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { EventDefinition } from "#events/define.ts";
import { eventDefinitions } from "#events/index.ts";
import type { Schema } from "./frozen.ts";

/* Generates docs/reference/events.md from the events' schemas. `node dev/checks/freeze.ts` writes it, and reference.test.ts compares it. */

const EVENTS = join(import.meta.dirname, "../..", "events");
export const EVENTS_PAGE = join(import.meta.dirname, "../..", "docs", "reference", "events.md");

const INTRO = `# Event types

<!-- Written by \`node dev/checks/freeze.ts\` from the schemas in \`events/\`. Do not edit. -->

Every change is one of these events, in the stream of the thing that changed. [Events for other services](../events.md) says how to listen to them; \`/asyncapi.json\` has their JSON Schemas.
Erasable fields are sealed with the key of the thing that they belong to: they are not published, and lost once that thing is deleted. A field with \`?\` may be absent.
`;

/** The names of the fields, in schema order. */
function describeFields(type: z.ZodType | undefined): string {
  if (!type) return "";
  const { properties = {}, required = [] } = z.toJSONSchema(type, { io: "output", unrepresentable: "any" }) as Schema;
  const fields = Object.keys(properties).map((name) => `\`${name}${required.includes(name) ? "" : "?"}\``);
  return fields.join(", ");
}

const describeEvent = ({ type, version, ...definition }: EventDefinition): string =>
  `| \`${type}\` | ${version} | ${describeFields(definition.public)} | ${describeFields(definition.personal)} |`;

/** The types that each module of `events/` defines, in its order. */
function groupByModule(): Map<string, string[]> {
  const files = readdirSync(EVENTS).filter((name) => /^[a-zA-Z]+\.ts$/.test(name));
  const groups = files.map((name): [string, string[]] => {
    const source = readFileSync(join(EVENTS, name), "utf8");
    const types = [...source.matchAll(/defineEvent\(\s*"(\w+)"/g)].map(([, type = ""]) => type);
    return [name.replace(".ts", ""), types];
  });
  return new Map(groups.filter(([, types]) => types.length > 0));
}

/** The whole page. */
export function renderEventsPage(): string {
  const groups = [...groupByModule()].map(([module, types]) => {
    const rows = types.map((type) => describeEvent(eventDefinitions.get(type)!));
    const title = `${module[0]!.toUpperCase()}${module.slice(1)}`;
    return `\n## ${title}\n\n| Event | Version | Fields | Erasable fields |\n|---|---|---|---|\n${rows.join("\n")}\n`;
  });
  return INTRO + groups.join("");
}
