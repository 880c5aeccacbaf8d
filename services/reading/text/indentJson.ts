/* Indents JSON token by token. Objects would lose keys that occur twice, sort those that are numbers, and round long numbers. */

/** Maximum UTF-16 units of the result. Values that are nested thousands of levels deep would make it mostly spaces. */
const MAX_LENGTH = 50_000_000;
const MARGIN = "  ";

const SEPARATOR = /[\s{}[\],:"]/g;

/** The end of the string that starts at `from`. */
const stringEnd = (json: string, from: number): number => {
  let at = from + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
};

const wordEnd = (json: string, from: number): number => {
  SEPARATOR.lastIndex = from;
  return SEPARATOR.exec(json)?.index ?? json.length;
};

/** The tokens of valid JSON: strings, signs, and words, such as numbers. */
function* tokensOf(json: string): Generator<string> {
  for (let at = 0; at < json.length; ) {
    const sign = json[at]!;
    const end = sign === '"' ? stringEnd(json, at) : Math.max(wordEnd(json, at), at + 1);
    if (sign.trim() !== "") yield json.slice(at, end);
    at = end;
  }
}

const isOpening = (token: string): boolean => token === "{" || token === "[";
const isClosing = (token: string): boolean => token === "}" || token === "]";

const writeToken = (token: string): string => {
  if (token === ":") return ": ";
  // shows the characters that the source escapes by their numbers
  return token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token;
};

const indentTokens = (json: string): string => {
  const lines: string[] = [];
  let [line, before, depth, length] = ["", "", 0, 0];
  const endLine = (): void => {
    lines.push(line);
    length += line.length + 1;
    line = MARGIN.repeat(depth);
  };
  for (const token of tokensOf(json)) {
    if (isClosing(token)) {
      depth -= 1;
      if (!isOpening(before)) endLine();
    } else if (isOpening(before) || before === ",") endLine();
    if (isOpening(token)) depth += 1;
    line += writeToken(token);
    before = token;
    if (length > MAX_LENGTH) return json;
  }
  lines.push(line);
  return lines.join("\n");
};

/** The same JSON with a value per line. Invalid JSON, and JSON that would be longer than 50 MB, stays as it is. */
export const indentJson = (text: string): string => {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  return indentTokens(text);
};
