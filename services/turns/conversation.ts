import { fitWindow, describeWindow } from "./fitWindow.ts";
import type { Prompt } from "#events/thread.ts";
import { turnMessages } from "./history.ts";
import type { TokenCounter } from "./estimateUsage.ts";
import type { ToolOffer } from "./model.ts";
import { limitFiles, targetProvider } from "./modelRequest.ts";
import { pairResults } from "./pairResults.ts";
import type { ThreadMessage } from "./threadMessage.ts";
import type { Tools } from "./tools/index.ts";
import { offerTool, type Tool } from "./tools/tool.ts";
import type { TurnToRun } from "./turnToRun.ts";

interface TurnConversation {
  /** The tools that this service runs. */
  tools: Tool[];
  /** All tools that the model is offered, including the caller's own. */
  offers: ToolOffer[];
  clientTools: ToolOffer[];
  /** The part of the thread that fits, and the turn's own messages. */
  messages: ThreadMessage[];
}

const findTools = async (tools: Tools, organization: string, { tools: names, tool_choice }: Prompt): Promise<Tool[]> =>
  tool_choice === "none" || names.length === 0 ? [] : tools.find(organization, names);

/** What a turn sends to its model, and the tools that it offers. `findWindow` is called only if the thread has earlier turns. */
export async function openConversation(
  { tools: known, countTokens }: { tools: Tools } & Pick<TokenCounter, "countTokens">,
  turn: TurnToRun,
  prompt: Prompt,
  { history, findWindow }: { history: ThreadMessage[]; findWindow(): Promise<number | undefined> },
): Promise<TurnConversation> {
  const tools = await findTools(known, turn.organization_id, prompt);
  const clientTools = prompt.tool_choice === "none" ? [] : (prompt.client_tools ?? []);
  const offers = [...tools.map(offerTool), ...clientTools];
  const own = turnMessages(turn.turn_id, prompt);
  const tokens = history.length > 0 ? await findWindow() : undefined;
  const before = tokens ? await fitWindow(history, describeWindow(tokens, prompt, offers, own), countTokens) : history;
  const messages = pairResults([...limitFiles(before, own, targetProvider(turn)), ...own]);
  return { tools, offers, clientTools, messages };
}
