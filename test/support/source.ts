import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Paths of all source files, from the root of the repository: `src/core/tally.ts`. */
export function sourceFiles(): string[] {
  return readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

export interface Source {
  readonly path: string;
  /** What it imports or exports from: files of ours as paths from the root, packages by name. */
  readonly imports: readonly string[];
  /** Every identifier in the code, and members with their object (`Math.random`); comments and strings have none. */
  readonly names: ReadonlySet<string>;
  readonly lineCount: number;
}

export function readSource(path: string): Source {
  return parseSource(path, readFileSync(join(ROOT, path), "utf8"));
}

export function parseSource(path: string, text: string): Source {
  const imports: string[] = [];
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.add(node.text);
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
      names.add(`${node.expression.text}.${node.name.text}`);
    }
    const from =
      ts.isImportDeclaration(node) || ts.isExportDeclaration(node) ? node.moduleSpecifier : dynamicImport(node);
    if (from !== undefined && ts.isStringLiteral(from)) imports.push(resolve(path, from.text));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return { path, imports, names, lineCount: text.split("\n").length };
}

function dynamicImport(node: ts.Node): ts.Expression | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword;
  const isRequire = ts.isIdentifier(node.expression) && node.expression.text === "require";
  return isImport || isRequire ? node.arguments[0] : undefined;
}

function resolve(path: string, specifier: string): string {
  return specifier.startsWith(".") ? join(dirname(path), specifier).replace(/\.js$/, ".ts") : specifier;
}
