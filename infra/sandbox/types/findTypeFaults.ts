import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import ts from "typescript-5";
import type { TypedScript, TypeFault } from "#http/base/typeChecker.ts";
import { findInsertions, insertAll, toSourceOffset } from "./addTypes.ts";
import { declarationsFor } from "./declarations.ts";

const MAX_FAULTS = 100;
const MAX_MESSAGE = 1_000;
/** Messages about missing types, which scripts do not need. */
const isAboutMissingTypes = (code: number): boolean => code >= 7_000 && code < 7_100;
const LIBRARIES = dirname(createRequire(import.meta.url).resolve("typescript-5"));

const OPTIONS: ts.CompilerOptions = {
  noEmit: true,
  strict: true,
  // scripts rarely give types to `throw` and `catch`
  useUnknownInCatchVariables: false,
  strictPropertyInitialization: false,
  allowJs: true,
  checkJs: true,
  maxNodeModuleJsDepth: 0,
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  moduleDetection: ts.ModuleDetectionKind.Force,
  allowImportingTsExtensions: true,
  lib: ["lib.esnext.d.ts"],
  types: [],
  skipLibCheck: true,
};

/** The language's declarations, parsed once. */
const libraries = new Map<string, ts.SourceFile>();
function readLibrary(path: string): ts.SourceFile | undefined {
  const name = path.replace(/^.*\//, "");
  if (!/^lib\.[\w.]+\.d\.ts$/.test(name)) return undefined;
  const known = libraries.get(name);
  if (known) return known;
  const file = ts.createSourceFile(path, readFileSync(join(LIBRARIES, name), "utf8"), ts.ScriptTarget.ESNext);
  libraries.set(name, file);
  return file;
}

/** A host without a file system: the compiler sees only these texts and its libraries. */
const createHost = (texts: Map<string, string>): ts.CompilerHost => ({
  fileExists: (path) => texts.has(path),
  readFile: (path) => texts.get(path),
  getSourceFile(path) {
    const text = texts.get(path);
    return text === undefined ? readLibrary(path) : ts.createSourceFile(path, text, ts.ScriptTarget.ESNext);
  },
  getDefaultLibFileName: () => "/libraries/lib.esnext.d.ts",
  getDefaultLibLocation: () => "/libraries",
  writeFile() {},
  getCurrentDirectory: () => "/",
  getCanonicalFileName: (path) => path,
  useCaseSensitiveFileNames: () => true,
  getNewLine: () => "\n",
});

const messageOf = ({ messageText }: ts.Diagnostic): string =>
  ts
    .flattenDiagnosticMessageText(messageText, "\n")
    // the advice is about compiler settings, which scripts do not have
    .replace(/ Do you need to (?:change your target library|install type definitions)\?[^]*$/, "")
    .slice(0, MAX_MESSAGE);

/** Type errors of a script, in source order: against the language, the platform and its own types. */
export function findTypeFaults(script: TypedScript): TypeFault[] {
  const { source, has_types } = script;
  const path = has_types ? "/definition.ts" : "/definition.js";
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.ESNext, true);
  const insertions = findInsertions(file, script);
  const declarations = declarationsFor(script, `.${path}`);
  const texts = new Map([...Object.entries(declarations), [path, insertAll(source, insertions)]]);
  const program = ts.createProgram({ rootNames: [...texts.keys()], options: OPTIONS, host: createHost(texts) });
  const checked = program.getSourceFile(path)!;
  const found = [...program.getSyntacticDiagnostics(checked), ...program.getSemanticDiagnostics(checked)];
  const place = (offset: number) => file.getLineAndCharacterOfPosition(toSourceOffset(offset, insertions));
  return found
    .filter(({ code }) => !isAboutMissingTypes(code))
    .slice(0, MAX_FAULTS)
    .map((fault) => {
      const { code, start = 0, length = 0 } = fault;
      const [from, to] = [place(start), place(start + length)];
      return {
        code,
        message: messageOf(fault),
        line: from.line + 1,
        column: from.character + 1,
        end_line: to.line + 1,
        end_column: to.character + 1,
      };
    });
}
