import { join } from "node:path";
import { readSettings, settingNames, SettingsError } from "#infra/config.ts";

export const SETTINGS_PAGE = join(import.meta.dirname, "../../docs/reference/settings.md");

/** A value that every setting refuses, except those that accept any text. */
const NONSENSE = "\u0001";
/** Defaults that depend on the machine or on another setting. */
const IN_WORDS: Record<string, string> = {
  READERS: "processor cores, at most 4",
  OFFLINE_MODELS: "`on`; `off` with `NODE_ENV=production`",
};
/** Without these, a setting that requires them would be refused for that reason rather than for its value. */
const OTHERS = { MEILI_URL: "http://host:7700", MEILI_MASTER_KEY: "key" };

const HEAD = `# Settings

Settings come only from the environment; an invalid one is named at start. This page is made from the settings' schema by \`node dev/checks/freeze.ts\`; [Operating](../operating.md#settings) says what each one is for.

| Name | Default | Value |
|---|---|---|
`;

/** The service's message about a value that it refuses. */
function describeValues(name: string): string {
  try {
    readSettings({ ...OTHERS, [name]: NONSENSE });
    return "any text";
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const line = error.message.split("\n").find((each) => each.startsWith(`  ${name} `)) ?? "";
    return (
      line
        .slice(name.length + 3)
        .replace(/^must be /, "")
        .replaceAll("|", "\\|") || "any text"
    );
  }
}

function describeDefault(name: string, value: unknown): string {
  if (IN_WORDS[name]) return IN_WORDS[name];
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return "none";
  if (typeof value === "boolean") return value ? "`on`" : "`off`";
  return `\`${Array.isArray(value) ? value.join(typeof value[0] === "number" ? "," : "+") : JSON.stringify(value).replaceAll('"', "")}\``;
}

/** The current page about settings, generated from the schema. */
export function renderSettingsPage(): string {
  const defaults: Record<string, unknown> = readSettings({});
  const rows = settingNames
    .toSorted()
    .map((name) => `| \`${name}\` | ${describeDefault(name, defaults[name])} | ${describeValues(name)} |\n`);
  return HEAD + rows.join("");
}
