import type { Finding } from "../checker.ts";
import type { Hold } from "../holds.ts";
import type { Reading, StrikeSpan } from "../reading.ts";
import type { Span } from "../spans.ts";
import type { Terms } from "../terms.ts";

const WIDTH = 1_600;
const MARGIN = 110;
const NODE_HEIGHT = 20;
const ROW_HEIGHT = 6;
const GAP = 6;
/** Violations; one is seldom alone. */
const SHOWN = 30;
const LETTER_WIDTH = 6.5;
const COLOURS = ["#3b6fb6", "#2e8b57", "#b8860b", "#8e5ea2", "#c0504d", "#4bacc6"];
const BAND = { node: "#e8743b", client: "#999999" };

/** A run as a picture: a lane for each node and client, faults as bands, holds as bars, violations as red lines. */
export function timelineOf(
  reading: Reading,
  terms: Terms,
  findings: readonly Finding[],
  span: Span = { fromMs: reading.fromMs, toMs: reading.toMs },
): string {
  const resources = [...new Set(reading.holds.flatMap(({ granted }) => granted.resources))].sort();
  const scale = (WIDTH - MARGIN) / (span.toMs - span.fromMs);
  const x = (atMs: number) => MARGIN + (Math.min(Math.max(atMs, span.fromMs), span.toMs) - span.fromMs) * scale;
  const canvas: Canvas = { x, span, resources, parts: [], y: 24 };

  drawAxis(canvas, reading.fromMs);
  for (const node of terms.nodes) {
    const strikes = reading.strikes.filter(({ nodes }) => nodes.includes(node));
    drawLane(canvas, node, NODE_HEIGHT, (top) => drawStrikes(canvas, strikes, top, NODE_HEIGHT, BAND.node));
  }
  for (const client of clientsOf(reading)) {
    const height = resources.length * ROW_HEIGHT + 2;
    drawLane(canvas, client, height, (top) => {
      const strikes = reading.strikes.filter(({ clients }) => clients.some((name) => placeOf(name) === client));
      drawStrikes(canvas, strikes, top, height, BAND.client);
      for (const hold of reading.holds.filter(({ granted }) => placeOf(granted.process) === client)) {
        drawHold(canvas, hold, top);
      }
    });
  }
  const bottom = canvas.y;
  drawLegend(canvas);
  for (const [index, finding] of findings.slice(0, SHOWN).entries()) drawFinding(canvas, finding, index + 1, bottom);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${canvas.y + 10}" font-family="sans-serif" font-size="11">`,
    `<rect width="100%" height="100%" fill="white"/>`,
    ...canvas.parts,
    "</svg>\n",
  ].join("\n");
}

interface Canvas {
  readonly x: (atMs: number) => number;
  readonly span: Span;
  readonly resources: readonly string[];
  readonly parts: string[];
  /** Where the next lane begins. */
  y: number;
}

/** A client that was killed shares its lane with its successor. */
function placeOf(process: string): string {
  return process.split(".")[0] as string;
}

function clientsOf(reading: Reading): string[] {
  return [...new Set(reading.of("started").map(({ process }) => placeOf(process)))].sort();
}

const TICKS = 12;
const STEPS_MS = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];

function drawAxis({ x, span, parts }: Canvas, originMs: number): void {
  const stepMs = STEPS_MS.find((step) => (span.toMs - span.fromMs) / step <= TICKS) ?? 30_000;
  const first = Math.ceil((span.fromMs - originMs) / stepMs) * stepMs;
  for (let atMs = first; atMs <= span.toMs - originMs; atMs += stepMs) {
    const at = x(originMs + atMs).toFixed(1);
    parts.push(`<line x1="${at}" x2="${at}" y1="16" y2="100%" stroke="#eeeeee"/>`);
    parts.push(`<text x="${at}" y="12" text-anchor="middle" fill="#666666">${atMs / 1_000} s</text>`);
  }
}

function drawLane(canvas: Canvas, name: string, height: number, draw: (top: number) => void): void {
  const { parts, y } = canvas;
  parts.push(`<rect x="${MARGIN}" y="${y}" width="${WIDTH - MARGIN}" height="${height}" fill="#f7f7f7"/>`);
  parts.push(`<text x="${MARGIN - 8}" y="${y + height / 2 + 4}" text-anchor="end">${escaped(name)}</text>`);
  draw(y);
  canvas.y += height + GAP;
}

function drawStrikes(canvas: Canvas, strikes: readonly StrikeSpan[], top: number, height: number, fill: string): void {
  for (const { fromMs, toMs, fault } of strikes) {
    bar(canvas, { fromMs, toMs }, { top, height, fill, opacity: 0.35, title: fault });
    if (height !== NODE_HEIGHT) continue;
    const label = fault.slice(0, Math.floor((canvas.x(toMs) - canvas.x(fromMs)) / LETTER_WIDTH));
    canvas.parts.push(`<text x="${(canvas.x(fromMs) + 3).toFixed(1)}" y="${top + 14}">${escaped(label)}</text>`);
  }
}

function drawHold(canvas: Canvas, { granted, untilMs }: Hold, top: number): void {
  for (const resource of granted.resources) {
    const row = canvas.resources.indexOf(resource);
    const title = `${resource}, ${granted.process}, ttl ${granted.ttlMs} ms, ${granted.token}`;
    const place = { top: top + 1 + row * ROW_HEIGHT, height: ROW_HEIGHT - 1, fill: colourOf(row), opacity: 1, title };
    bar(canvas, { fromMs: granted.atMs, toMs: untilMs }, place);
  }
}

function colourOf(row: number): string {
  return COLOURS[row % COLOURS.length] as string;
}

interface Place {
  readonly top: number;
  readonly height: number;
  readonly fill: string;
  readonly opacity: number;
  readonly title: string;
}

function bar({ x, span, parts }: Canvas, { fromMs, toMs }: Span, { top, height, fill, opacity, title }: Place): void {
  if (toMs < span.fromMs || fromMs > span.toMs) return;
  const width = Math.max(1, x(toMs) - x(fromMs)).toFixed(1);
  parts.push(
    `<rect x="${x(fromMs).toFixed(1)}" y="${top}" width="${width}" height="${height}" fill="${fill}" fill-opacity="${opacity}"><title>${escaped(title)}</title></rect>`,
  );
}

function drawLegend(canvas: Canvas): void {
  canvas.y += 12;
  for (const [row, resource] of canvas.resources.entries()) {
    const left = MARGIN + row * 140;
    canvas.parts.push(`<rect x="${left}" y="${canvas.y - 9}" width="18" height="8" fill="${colourOf(row)}"/>`);
    canvas.parts.push(`<text x="${left + 24}" y="${canvas.y}">${escaped(resource)}</text>`);
  }
}

function drawFinding(canvas: Canvas, { atMs, check, who, message }: Finding, number: number, bottom: number): void {
  const { x, span, parts } = canvas;
  canvas.y += 16;
  if (atMs >= span.fromMs && atMs <= span.toMs) {
    const at = x(atMs).toFixed(1);
    parts.push(`<line x1="${at}" x2="${at}" y1="16" y2="${bottom}" stroke="red"/>`);
    parts.push(`<text x="${at}" y="${bottom + 2}" fill="red" text-anchor="middle">${number}</text>`);
  }
  parts.push(
    `<text x="${MARGIN}" y="${canvas.y}" fill="red">${number}. ${escaped(`${check}: ${who} ${message}`)}</text>`,
  );
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
