import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript-5";

/* Which routes of the API the console calls, read from its source. */

const ROOT = join(import.meta.dirname, "../../console");
/** A part of a path that is only known when the console runs. */
const ANY = "{}";
/** The file whose helpers send all requests. */
const SENDER = "api/call.ts";
/** The possible values of a helper's parameters. A rest parameter is one text with slashes. */
type Bindings = Map<string, string[]>;
interface Scope {
  file: ts.SourceFile;
  bindings: Bindings;
}

const combine = (left: string[], right: string[]): string[] => left.flatMap((one) => right.map((other) => one + other));

/** The sources of the console, and what its expressions may be as texts. */
class Sources {
  readonly files: Map<string, ts.SourceFile>;
  constructor(files: Map<string, ts.SourceFile>) {
    this.files = files;
  }

  /** The initializer or function that a name stands for at the top of a file, or of the one that it is imported from. */
  declared(name: string, file: ts.SourceFile): { node: ts.Node; file: ts.SourceFile } | undefined {
    for (const statement of file.statements) {
      if (ts.isFunctionDeclaration(statement) && statement.name?.text === name) return { node: statement, file };
      if (ts.isVariableStatement(statement))
        for (const one of statement.declarationList.declarations)
          if (ts.isIdentifier(one.name) && one.name.text === name && one.initializer)
            return { node: one.initializer, file };
      if (ts.isImportDeclaration(statement)) {
        const names = statement.importClause?.namedBindings;
        const has = names && ts.isNamedImports(names) && names.elements.some((one) => one.name.text === name);
        const from = (statement.moduleSpecifier as ts.StringLiteral).text;
        const source = has && this.files.get(join(file.fileName, "..", from));
        if (source) return this.declared(name, source);
      }
    }
    return undefined;
  }

  /** A constant of a function around the node. */
  #local(name: string, node: ts.Node): ts.Expression | undefined {
    for (let at: ts.Node | undefined = node; at; at = at.parent)
      if (ts.isBlock(at))
        for (const statement of at.statements)
          if (ts.isVariableStatement(statement))
            for (const one of statement.declarationList.declarations)
              if (ts.isIdentifier(one.name) && one.name.text === name) return one.initializer;
    return undefined;
  }

  #called(call: ts.CallExpression, scope: Scope): string[] {
    if (ts.isPropertyAccessExpression(call.expression)) {
      const { expression: list, name } = call.expression;
      if (name.text !== "join" || !ts.isArrayLiteralExpression(list)) return [ANY];
      const parts = list.elements.map((one) =>
        ts.isSpreadElement(one) ? this.#spread(one, scope) : this.texts(one, scope),
      );
      return parts.reduce(
        (all, part) => (all.length === 0 ? part : combine(combine(all, ["/"]), part)),
        [] as string[],
      );
    }
    if (!ts.isIdentifier(call.expression)) return [ANY];
    const found = this.declared(call.expression.text, scope.file);
    if (!found || !(ts.isArrowFunction(found.node) || ts.isFunctionDeclaration(found.node))) return [ANY];
    const { parameters, body } = found.node;
    const bindings: Bindings = new Map(
      parameters.flatMap(({ name, dotDotDotToken }, n): [string, string[]][] => {
        if (!ts.isIdentifier(name)) return [];
        const given = dotDotDotToken ? call.arguments.slice(n) : call.arguments.slice(n, n + 1);
        const texts = given.map((one) => this.texts(one, scope));
        return [[name.text, dotDotDotToken ? [texts.map(([text]) => text).join("/")] : (texts[0] ?? [""])]];
      }),
    );
    const inner = { file: found.file, bindings };
    if (body && ts.isBlock(body)) {
      const returned = body.statements.filter(ts.isReturnStatement).flatMap(({ expression }) => expression ?? []);
      return returned.flatMap((one) => this.texts(one, inner));
    }
    return body ? this.texts(body, inner) : [ANY];
  }

  /** `...names.map(encodeURIComponent)` of a list of arguments. */
  #spread({ expression }: ts.SpreadElement, { bindings }: Scope): string[] {
    const list =
      ts.isCallExpression(expression) && ts.isPropertyAccessExpression(expression.expression)
        ? expression.expression.expression
        : expression;
    return (ts.isIdentifier(list) && bindings.get(list.text)) || [ANY];
  }

  /** All texts that an expression may be. */
  texts(node: ts.Node, scope: Scope): string[] {
    if (ts.isStringLiteralLike(node)) return [node.text];
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return this.texts(node.expression, scope);
    if (ts.isTemplateExpression(node))
      return node.templateSpans.reduce(
        (all, { expression, literal }) => combine(combine(all, this.texts(expression, scope)), [literal.text]),
        [node.head.text],
      );
    if (ts.isConditionalExpression(node))
      return [...this.texts(node.whenTrue, scope), ...this.texts(node.whenFalse, scope)];
    if (ts.isCallExpression(node)) return this.#called(node, scope);
    if (ts.isIdentifier(node)) {
      const bound = scope.bindings.get(node.text);
      if (bound) return bound;
      const local = this.#local(node.text, node);
      if (local) return this.texts(local, scope);
    }
    return [ANY];
  }
}

/** The method in a request's options. */
function methodOf(options: ts.Node | undefined): string {
  if (!options || !ts.isObjectLiteralExpression(options)) return "GET";
  for (const one of options.properties)
    if (ts.isPropertyAssignment(one) && one.name.getText() === "method" && ts.isStringLiteralLike(one.initializer))
      return one.initializer.text;
  return "GET";
}

/** Of an address: it is read, except by `upload(address(…))`. */
const methodAround = ({ parent }: ts.CallExpression): string =>
  ts.isCallExpression(parent) && parent.expression.getText() === "upload" ? "POST" : "GET";

async function readSources(): Promise<Sources> {
  const files = new Map<string, ts.SourceFile>();
  for await (const name of glob("**/*.{ts,tsx}", { cwd: ROOT })) {
    const path = join(ROOT, name);
    const kind = name.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
    files.set(path, ts.createSourceFile(path, await readFile(path, "utf8"), ts.ScriptTarget.Latest, true, kind));
  }
  return new Sources(files);
}

/** `METHOD path` below `/api/` of each request that the console may send, and the places whose path cannot be read. */
export async function readCalls(): Promise<{ calls: Set<string>; unread: string[] }> {
  const sources = await readSources();
  const calls = new Set<string>();
  const unread: string[] = [];
  for (const [path, file] of sources.files) {
    if (path.endsWith(SENDER)) continue;
    const note = (method: string, argument: ts.Node) => {
      for (const text of sources.texts(argument, { file, bindings: new Map() }))
        if (text.startsWith(ANY)) unread.push(`${path.slice(ROOT.length + 1)}: ${argument.getText()}`);
        else calls.add(`${method} ${text}`);
    };
    const visit = (node: ts.Node): void => {
      node.forEachChild(visit);
      if (ts.isNewExpression(node) && node.expression.getText() === "URL") {
        const [text = ""] = sources.texts(node.arguments![0]!, { file, bindings: new Map() });
        const [, below] = /^(?:\.\.\/)*api\/(.*)$/.exec(text) ?? [];
        if (below !== undefined && !below.startsWith(ANY)) calls.add(`GET ${below}`);
      }
      if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return;
      const name = node.expression.text;
      const [first, second] = node.arguments;
      if (!first || !sources.declared(name, file)?.file.fileName.endsWith(SENDER)) return;
      if (name === "call" || name === "send") note(methodOf(second), first);
      if (name === "queryOne" || name === "queryAll") note("GET", first);
      if (name === "address") note(methodAround(node), first);
    };
    visit(file);
  }
  return { calls, unread };
}
