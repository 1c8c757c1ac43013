// See tools/screenshots.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const VIEWS = [
  { name: "wide", width: 1280, height: 900, dark: false },
  { name: "dark", width: 1280, height: 900, dark: true },
  { name: "phone", width: 390, height: 844, dark: false },
];

// What assistive technology is given, one line for each thing, as in the accessibility tree.
async function heard(page) {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const inOrder = (node) => [node, ...(node.childIds ?? []).flatMap((id) => (byId.has(id) ? inOrder(byId.get(id)) : []))];
  const silent = new Set(["none", "generic", "InlineTextBox", "ignored", "LayoutTableCell", "LayoutTableRow", "LayoutTable", "StaticText"]);
  const level = (node) => node.properties?.find((p) => p.name === "level")?.value.value;
  return inOrder(nodes[0])
    .filter((node) => !node.ignored && node.name?.value && !silent.has(node.role?.value))
    .map((node) => `${node.role.value}${level(node) ? ` ${level(node)}` : ""}: ${node.name.value}`)
    .join("\n");
}

// Headings must not skip a level, and the page must begin with the only first one.
function badHeadings(levels) {
  const jumps = levels.some((level, at) => at > 0 && level > levels[at - 1] + 1);
  return levels[0] !== 1 || levels.filter((level) => level === 1).length > 1 || jumps;
}

async function view(browser, file, out, { name, width, height, dark }) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  const faults = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && faults.push(`console: ${message.text()}`));
  page.on("request", (request) => /^https?:/.test(request.url()) && faults.push(`request: ${request.url()}`));
  await page.goto(`file://${path.resolve(file)}`);
  await page.waitForTimeout(1500);
  const scroll = await page.evaluate(() => document.documentElement.scrollWidth);
  if (scroll > width) faults.push(`the page is ${scroll} px wide in a window of ${width} px`);
  const undrawn = await page.$$eval("details[open] .plot", (plots) => plots.filter((p) => !p.querySelector("canvas, svg")).length);
  if (undrawn > 0) faults.push(`${undrawn} charts are not drawn`);
  const levels = await page.$$eval("h1, h2, h3, h4, h5, h6", (all) => all.map((h) => Number(h.tagName[1])));
  if (badHeadings(levels)) faults.push(`headings out of order: ${levels.join(" ")}`);
  const base = path.join(out, `${path.basename(file, ".html")}-${name}`);
  await page.screenshot({ path: `${base}.png` });
  await page.screenshot({ path: `${base}-whole.png`, fullPage: true });
  if (name === "wide") fs.writeFileSync(`${base}.txt`, `${await heard(page)}\n`);
  await page.close();
  return faults.map((fault) => `${file}, ${name}: ${fault}`);
}

async function main([out, ...files]) {
  fs.mkdirSync(out, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env.BROWSER,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
  const faults = [];
  for (const file of files) for (const one of VIEWS) faults.push(...(await view(browser, file, out, one)));
  await browser.close();
  for (const fault of faults) console.error(fault);
  console.log(`${files.length} pages, ${files.length * VIEWS.length} views in ${out}`);
  process.exit(faults.length > 0 ? 1 : 0);
}

main(process.argv.slice(2));
