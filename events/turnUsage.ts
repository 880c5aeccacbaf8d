import { addUsage, NO_USAGE, type Usage } from "./turnOutput.ts";

const sumUsage = (parts: { usage: Usage }[]): Usage => parts.map(({ usage }) => usage).reduce(addUsage, NO_USAGE);

/** The usage of a turn. With an alias also the target that answered last, and the usage of each. */
export function turnUsage(parts: { usage: Usage; model?: string }[], isRouted: boolean) {
  const usage = sumUsage(parts);
  if (!isRouted) return { usage };
  const sums = new Map<string, Usage>();
  for (const { model, usage: more } of parts)
    if (model !== undefined) sums.set(model, addUsage(sums.get(model) ?? NO_USAGE, more));
  const model = parts.findLast((part) => part.model !== undefined)?.model;
  const usage_by_model = [...sums].map(([name, sum]) => ({ model: name, usage: sum }));
  return { usage, ...(model !== undefined && { model }), usage_by_model };
}
