import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";

/* Completes the functions that a script may call, from the published types. */

/** A member of an interface, on its own line. */
const MEMBER = /^ {4}(?:readonly )?(\w+)\??(\(.*|: .*|: typeof .*)$/;
const INTERFACE = /^ {2}(?:export )?interface (\w+)/;

/** The members of the interfaces in a declaration file, by interface. */
export function readMembers(declarations: string): Map<string, Completion[]> {
  const found = new Map<string, Completion[]>();
  let members: Completion[] = [];
  for (const line of declarations.split("\n")) {
    const name = INTERFACE.exec(line)?.[1];
    if (name) found.set(name, (members = []));
    const [, label, type = ""] = MEMBER.exec(line) ?? [];
    if (label)
      members.push({ label, detail: type.replace(/[;{]\s*$/, ""), type: type.startsWith("(") ? "method" : "property" });
  }
  return found;
}

/** Completes `ctx.` with the members for `run()` and steps. */
export const completeContext =
  (load: () => Promise<Map<string, Completion[]>>) =>
  async (context: CompletionContext): Promise<CompletionResult | null> => {
    const before = context.matchBefore(/\b(?:ctx|context)\.\w*/);
    if (!before) return null;
    const members = await load();
    const options = ["RunContext", "StepContext"].flatMap((name) => members.get(name) ?? []);
    const unique = [...new Map(options.map((option) => [option.label, option])).values()];
    return { from: before.from + before.text.indexOf(".") + 1, options: unique, validFor: /^\w*$/ };
  };
