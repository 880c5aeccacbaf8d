import { inSpan } from "#events/spans.ts";
import { isBuiltInTool, type BuiltInTool } from "#events/tools.ts";
import { GEN_AI } from "../genAi.ts";
import type { Knowledge } from "./knowledge.ts";
import { readDocument } from "./readDocument.ts";
import { scriptedTool, type ScriptedTools } from "./scripted.ts";
import { searchDocuments } from "./searchDocuments.ts";
import type { Tool } from "./tool.ts";
import type { Web } from "./web.ts";
import { webFetch } from "./webFetch.ts";
import { webSearch } from "./webSearch.ts";

/** What the tools need; roles/ provides it. */
export interface ToolPorts {
  knowledge: Knowledge;
  web: Web;
  scripts: ScriptedTools;
}

export interface Tools {
  /** The organization's tools with these names, built-in or its own, in the order of the names. Leaves out unknown names. */
  find(organization: string, names: string[]): Promise<Tool[]>;
}

/** Spans omit the names of an organization's own tools, which are its data. */
const withSpan = (tool: Tool, isOwn: boolean): Tool => ({
  ...tool,
  run: (input, context) =>
    inSpan(
      isOwn ? "execute_tool" : `execute_tool ${tool.name}`,
      {
        attributes: {
          [GEN_AI.operation]: "execute_tool",
          [GEN_AI.toolType]: "function",
          ...(!isOwn && { [GEN_AI.toolName]: tool.name }),
        },
      },
      () => tool.run(input, context),
    ),
});

/** Every tool of BUILT_IN_TOOLS under its own name: a missing or misnamed one does not compile. */
const builtInTools = ({ knowledge, web }: ToolPorts): { [Name in BuiltInTool]: Tool<Name> } => ({
  search_documents: searchDocuments(knowledge),
  read_document: readDocument(knowledge),
  web_search: webSearch(web),
  web_fetch: webFetch(web),
});

/** The tools that models and workflow steps can call. */
export function createTools(ports: ToolPorts): Tools {
  const { scripts } = ports;
  const builtIn = new Map(
    Object.values<Tool>(builtInTools(ports)).map((tool) => [tool.name, withSpan(tool, false)] as const),
  );
  return {
    async find(organization, names) {
      const ownNames = names.filter((name) => !isBuiltInTool(name));
      const own = ownNames.length > 0 ? await scripts.find(organization, ownNames) : [];
      const found = new Map([
        ...builtIn,
        ...own.map((tool) => [tool.name, withSpan(scriptedTool(scripts, tool), true)] as const),
      ]);
      return names.flatMap((name) => found.get(name) ?? []);
    },
  };
}
