import { setTimeout as sleep } from "node:timers/promises";

/** What the calls are given, as JSON in the environment. */
export interface Settings {
  url: string;
  api_key: string;
  session: string;
}

export const WORKFLOW = `
export const meta = { args: { type: "object", properties: { amount: { type: "number" } } } };
export const steps = { double: ({ amount }) => amount * 2 };
export async function run(ctx, args) {
  const { approved } = await ctx.awaitApproval("go", { title: "Go?" });
  return { approved, doubled: await ctx.runStep("double", { amount: args.amount }) };
}`;

/** In milliseconds. */
const [PATIENCE, PAUSE] = [60_000, 100];

export async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE; !(await isDone()); await sleep(PAUSE))
    if (Date.now() > end) throw new Error("it took too long");
}

export function formOf(name: string, text: string): FormData {
  const form = new FormData();
  form.append("file", new File([text], name));
  return form;
}

interface WorkflowFamilies {
  workflows(): Promise<{
    run_id: string;
    status: string;
    scheme: string | undefined;
    steps: string[];
    trigger: { hook_token: string | null; secret?: string | undefined };
  }>;
  approvals(run_id: string): Promise<object>;
  runs(run_id: string): Promise<object>;
  hooks(hook_token: string, secret: string): Promise<object>;
}

/** Calls every family, one after the other, and prints what each found. */
export async function printFamilies(
  { workflows, approvals, runs, hooks }: WorkflowFamilies,
  others: Record<string, () => Promise<object>>,
): Promise<void> {
  const { run_id, trigger, ...started } = await workflows();
  const found: Record<string, object> = {
    workflows: started,
    approvals: await approvals(run_id),
    runs: await runs(run_id),
    hooks: await hooks(trigger.hook_token!, trigger.secret!),
  };
  for (const [name, call] of Object.entries(others)) found[name] = await call();
  process.stdout.write(JSON.stringify(found));
}
