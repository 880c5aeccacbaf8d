import type { RunContext, StepContext } from "svc:workflow";

/* Signs a request with a secret (HMAC-SHA256), as receivers of webhooks expect. */

export const meta = {
  description: "Sends a signed event.",
  secrets: ["signing_key"],
  args: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
};

async function sign(secret: string, text: string): Promise<string> {
  const bytes = new TextEncoder();
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes.encode(secret), hmac, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(text)));
  return Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const steps = {
  send: async ({ url }: { url: string }, ctx: StepContext) => {
    const body = JSON.stringify({ event: "done", run: ctx.runId });
    const signature = await sign(await ctx.secrets.get("signing_key"), body);
    const answer = await ctx.fetch(url, { method: "POST", body, headers: { "x-signature": `sha256=${signature}` } });
    return answer.status;
  },
};

export const run = (ctx: RunContext, { url }: { url: string }) => ctx.runStep("send", { url });
