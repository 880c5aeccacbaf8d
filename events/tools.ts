/** Tools of the platform itself, by the names that models call. Requests are checked against this list; services implement every entry. */
export const BUILT_IN_TOOLS = ["search_documents", "read_document", "web_search", "web_fetch"] as const;
export type BuiltInTool = (typeof BUILT_IN_TOOLS)[number];

/** Built-in tools that need a collection to search. */
export const KNOWLEDGE_TOOLS: readonly string[] = ["search_documents", "read_document"] satisfies BuiltInTool[];

export const isBuiltInTool = (name: string): name is BuiltInTool =>
  (BUILT_IN_TOOLS as readonly string[]).includes(name);
