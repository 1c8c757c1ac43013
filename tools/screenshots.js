// See tools/screenshots.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const VIEWS = [
  { name: "wide", width: 1280, height: 900, dark: false },
  { name: "dark", width: 1280, height: 900, dark: true },
  { name: "phone", width: 390, height: 844, dark: false },
  { name: "phone-dark", width: 390, height: 844, dark: true },
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

// A search that finds nothing does not work: every page has this word.
async function searches(page) {
  const input = await page.$("input[name=query]");
  if (!input) return [];
  await input.fill("packet");
  await input.click();
  const found = await page.waitForSelector(".md-search-result__link", { timeout: 10000, state: "attached" }).catch(() => null);
  await page.keyboard.press("Escape");
  return found ? [] : ["the search finds nothing"];
}

// The band of limits by keyboard: the arrows choose a stretch, Enter moves the charts there, and the frame shows it.
async function walks(page) {
  const band = await page.$("details[open] .band");
  if (!band || !(await band.isVisible())) return [];
  const frame = () => band.$eval(".frame", (one) => `${one.style.left} ${one.style.width}`);
  const range = () => page.$eval("details[open] .zoom", (place) => [...place.children].map((one) => one.ariaPressed).join());
  await band.$eval("button[tabindex='0']", (one) => one.focus());
  for (const key of ["Home", "ArrowRight", "Enter"]) await page.keyboard.press(key);
  const [first, pressed] = [await frame(), await range()];
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  const moved = (await frame()) !== first || (await band.$$("button")).length < 3;
  await page.keyboard.press("Home");
  return moved ? [] : [`the band of limits does not move the charts (${first}; ${pressed})`];
}

// What is wider than its box, which does not scroll in it, is cut.
const cut = (page) =>
  page.$$eval("main .card, main table, main .key, main .chart, main .says", (all) =>
    all.filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1)
      .filter((one) => !/auto|scroll/.test(getComputedStyle(one).overflowX))
      .map((one) => `${one.tagName.toLowerCase()}.${one.className} is ${one.scrollWidth} px wide in ${one.clientWidth} px`));

async function view(browser, file, out, { name, width, height, dark }) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  const faults = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && faults.push(`console: ${message.text()}`));
  page.on("request", (request) => /^https?:/.test(request.url()) && faults.push(`request: ${request.url()}`));
  await page.goto(`file://${path.resolve(file)}`);
  const opened = await page.evaluate(() => performance.getEntriesByType("navigation")[0].duration);
  await page.waitForTimeout(1500);
  const scroll = await page.evaluate(() => document.documentElement.scrollWidth);
  if (scroll > width) faults.push(`the page is ${scroll} px wide in a window of ${width} px`);
  const undrawn = await page.$$eval("details[open] .plot", (plots) => plots.filter((p) => !p.querySelector("canvas, svg, .band")).length);
  if (undrawn > 0) faults.push(`${undrawn} charts are not drawn`);
  const levels = await page.$$eval("h1, h2, h3, h4, h5, h6", (all) => all.map((h) => Number(h.tagName[1])));
  if (badHeadings(levels)) faults.push(`headings out of order: ${levels.join(" ")}`);
  const base = path.join(out, `${path.basename(file, ".html")}-${name}`);
  await page.screenshot({ path: `${base}.png` });
  await page.screenshot({ path: `${base}-whole.png`, fullPage: true });
  faults.push(...(await cut(page)), ...(await searches(page)), ...(await walks(page)));
  if (name === "wide") fs.writeFileSync(`${base}.txt`, `${await heard(page)}\n`);
  await page.close();
  if (name === "wide") console.log(`${file} opens in ${Math.round(opened)} ms`);
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
