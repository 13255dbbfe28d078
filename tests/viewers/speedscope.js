// speedscope.js PACKAGES TRACE: imports TRACE as speedscope does and prints a JSON object: what it said on its
// console meanwhile, and per profile (= thread) its name, calls, maximum depth and weight (ns, if that is the unit).
'use strict';

const fs = require('fs');
const path = require('path');
const vm = require('vm');

// Stands in for any object of a browser that only drawing needs.
const nothing = new Proxy(function () {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => '' : key === Symbol.iterator ? undefined : nothing),
  set: () => true,
  apply: () => nothing,
  construct: () => nothing,
});

// The function behind `window.speedscope.loadFileFromBase64`, taken out by that (unminified) name.
const LOADER = /loadFileFromBase64:\((\w+),(\w+)\)=>\{this\.loadProfile\(\(\)=>(\w+)\(\1,\2\)\)/;
const OPENING = '"use strict";(()=>{';

function loadImporter(folder, said) {
  const script = fs.readdirSync(folder).find((name) => /^speedscope-.*\.js$/.test(name));
  const source = fs.readFileSync(path.join(folder, script), 'utf8');
  const loader = source.match(LOADER)[3];
  if (!source.startsWith(OPENING)) throw new Error(`${script} begins otherwise`);
  const note = (...words) => said.push(words.join(' '));
  const world = vm.createContext({
    console: {log: note, warn: note, error: note},
    TextDecoder, TextEncoder, URL, Uint8Array, ArrayBuffer, performance, setTimeout, clearTimeout, atob,
    document: nothing, navigator: nothing, localStorage: nothing, HTMLElement: function () {},
    location: {hash: '', href: ''}, addEventListener() {}, matchMedia: () => nothing, requestAnimationFrame() {},
  });
  world.window = world.self = world;
  try {
    vm.runInContext(`${OPENING}globalThis.load=(a,b)=>${loader}(a,b);${source.slice(OPENING.length)}`, world);
  } catch (error) {
    if (!world.load) throw error;  // what failed is drawing, into nothing
  }
  said.length = 0;
  return world.load;
}

function describe(profile) {
  let calls = 0, depth = 0, deepest = 0;
  profile.forEachCall(() => {
    calls++;
    deepest = Math.max(deepest, ++depth);
  }, () => depth--);
  return {name: profile.getName(), calls, depth: deepest, weight: profile.getTotalWeight()};
}

async function main([packages, tracePath]) {
  const said = [];
  const load = loadImporter(path.join(packages, 'speedscope', 'dist', 'release'), said);
  const group = await load(path.basename(tracePath), fs.readFileSync(tracePath).toString('base64'));
  fs.writeSync(1, JSON.stringify({said, profiles: group.profiles.map(describe)}) + '\n');
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.stack);
  process.exit(1);
});
