-- Shows inorder's verdicts on packets as fields: inorder.kind, inorder.confidence, inorder.extent, ...
--
-- The verdicts come from the comments of a capture that `inorder analyze --annotate` wrote, or, for any other capture,
-- from running `inorder` on the opened file. Both are lines of `name=value` with the same names, which are the columns
-- of `inorder analyze --csv --rows frames`.
--
-- Install: see README.md beside this file.

local inorder = Proto("inorder", "inorder: packet order")

-- The columns of a verdict, and the field that shows each. Times are milliseconds.
local fields = {
    kind = ProtoField.string("inorder.kind", "Kind", "reordered, lost, refused or retransmission"),
    verdict = ProtoField.string("inorder.verdict", "Verdict", "Of a retransmission: needed, spurious or ambiguous"),
    confidence = ProtoField.string("inorder.confidence", "Confidence", "certain, likely or ambiguous"),
    extent = ProtoField.uint32("inorder.extent", "Extent", base.DEC, nil, nil, "Packets sent later that arrived earlier (RFC 4737)"),
    late_ms = ProtoField.double("inorder.late", "Late by (ms)", "Late time in milliseconds (RFC 4737)"),
    cause = ProtoField.string("inorder.cause", "Cause", "Why a retransmission was sent"),
    evidence = ProtoField.string("inorder.evidence", "Evidence", "What the verdict rests on"),
    reason = ProtoField.string("inorder.reason", "Reason", "Why the verdict is not certain"),
    proof_frame = ProtoField.framenum("inorder.proof_frame", "Proof", base.NONE, nil, 0, "The packet that proves it"),
}
local order = { "kind", "verdict", "confidence", "extent", "late_ms", "cause", "evidence", "reason", "proof_frame" }
local numbers = { extent = true, late_ms = true, proof_frame = true }

for _, name in ipairs(order) do
    table.insert(inorder.fields, fields[name])
end

inorder.prefs.command = Pref.string("Command", "inorder", "The inorder command, with its path if it is not in PATH")
inorder.prefs.options = Pref.string("Options", "", "More options for `inorder analyze`, such as --vantage receiver")
inorder.prefs.file = Pref.string("Capture", "", "The opened file, where it cannot be found out (Windows, remote captures)")
inorder.prefs.run = Pref.bool("Run inorder", true, "Run inorder on captures without its comments")

local comment_field = Field.new("frame.comment")

-- Verdicts by frame number; nil as long as nothing was read.
local verdicts = nil
-- Whether the opened file carries comments of inorder.
local annotated = false

local function warn(text)
    if gui_enabled() then report_failure(text) else io.stderr:write(text .. "\n") end
end

-- One verdict from `kind=reordered, extent=4, ...`.
local function parse_verdict(text)
    local verdict = {}
    for name, value in text:gmatch("([%w_]+)=([^,]+)") do
        verdict[name] = value
    end
    return verdict.kind and verdict or nil
end

-- The verdicts in a comment of a packet; none if the comment is not inorder's.
local function parse_comment(comment)
    local all = {}
    local text = comment:match("^inorder: (.*)$")
    if text then
        for part in (text .. "; "):gmatch("(.-); ") do
            table.insert(all, parse_verdict(part))
        end
    end
    return all
end

-- The cells of a line of CSV.
local function cells(line)
    local all, at = {}, 1
    while at <= #line + 1 do
        local cell
        if line:sub(at, at) == '"' then
            local start, close = at + 1, at
            repeat
                close = line:find('"', close + 1, true) or #line + 1
                local doubled = line:sub(close + 1, close + 1) == '"'
                if doubled then close = close + 1 end
            until not doubled
            cell = line:sub(start, close - 1):gsub('""', '"')
            at = close + 2
        else
            local comma = line:find(",", at, true) or #line + 1
            cell = line:sub(at, comma - 1)
            at = comma + 1
        end
        table.insert(all, cell)
    end
    return all
end

local is_windows = package.config:sub(1, 1) == "\\"

-- A word that the shell passes on as it is.
local function quoted(text)
    if is_windows then return '"' .. text .. '"' end
    return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function starts_like_a_capture(path)
    local file = io.open(path, "rb")
    local magic = file and file:read(4) or ""
    if file then file:close() end
    for _, known in ipairs({
        "\212\195\178\161", "\161\178\195\212", "\077\060\178\161", "\161\178\060\077", -- pcap
        "\010\013\013\010", -- pcapng
        "\040\181\047\253", -- Zstandard
    }) do
        if magic == known then return true end
    end
    return magic:sub(1, 2) == "\031\139" -- gzip
end

-- The opened capture. Wireshark does not tell scripts its name, but the system knows which files Wireshark has open.
local function opened_file()
    if inorder.prefs.file ~= "" then return inorder.prefs.file end
    if is_windows then return nil end
    local list = io.popen(
        'for f in /proc/$PPID/fd/*; do readlink "$f"; done 2>/dev/null; lsof -p $PPID -Fn 2>/dev/null | sed -n "s/^n//p"'
    )
    local found = nil
    for path in list:lines() do
        if path:sub(1, 1) == "/" and path:sub(1, 5) ~= "/dev/" and starts_like_a_capture(path) then found = path end
    end
    list:close()
    return found
end

-- Whether a file contains comments of inorder. Blocks overlap, so that no comment is cut in two.
local function has_comments(path)
    local sign = "inorder: kind="
    local file = io.open(path, "rb")
    if not file then return false end
    local tail, found = "", false
    repeat
        local block = file:read(1048576)
        if block then
            found = (tail .. block):find(sign, 1, true) ~= nil
            tail = block:sub(-#sign)
        end
    until found or not block
    file:close()
    return found
end

-- Runs inorder on the file and reads its verdicts.
local function run_on(path)
    local words = { quoted(inorder.prefs.command), "analyze", "-q --csv=- --rows frames", inorder.prefs.options, "--", quoted(path) }
    local output = io.popen(table.concat(words, " ") .. " 2>&1")
    local names, found = nil, {}
    for line in output:lines() do
        if not names and line:find("^file,flow,") then
            names = cells(line)
        elseif names and not line:find("^inorder: ") then
            local verdict, values = {}, cells(line)
            for at, name in ipairs(names) do
                if fields[name] and values[at] and values[at] ~= "" then verdict[name] = values[at] end
                if name == "frame" then verdict.frame = tonumber(values[at]) end
            end
            if verdict.frame and verdict.kind then
                found[verdict.frame] = found[verdict.frame] or {}
                table.insert(found[verdict.frame], verdict)
            end
        else
            warn("inorder.lua: " .. line)
        end
    end
    output:close()
    return found
end

-- Finds out once for each opened file where its verdicts are.
local function prepare()
    verdicts = {}
    local path = opened_file()
    if path then annotated = has_comments(path) end
    if annotated or not inorder.prefs.run then return end
    if path then
        verdicts = run_on(path)
    else
        warn("inorder.lua: cannot find the opened capture; set the preference inorder.file, or open a file written by inorder analyze --annotate")
    end
end

-- A new file was opened, or the preferences changed.
function inorder.init()
    verdicts, annotated = nil, false
end

function inorder.prefs_changed()
    verdicts, annotated = nil, false
end

function inorder.dissector(buffer, pinfo, tree)
    if not verdicts then prepare() end
    local of_frame = annotated and {} or verdicts[pinfo.number] or {}
    for _, comment in ipairs({ comment_field() }) do
        for _, verdict in ipairs(parse_comment(tostring(comment.value))) do
            table.insert(of_frame, verdict)
            annotated = true
        end
    end
    for _, verdict in ipairs(of_frame) do
        local branch = tree:add(inorder)
        branch:append_text(" (" .. (verdict.verdict and verdict.verdict .. " " or "") .. verdict.kind .. ")")
        for _, name in ipairs(order) do
            local value = verdict[name]
            if value then branch:add(fields[name], numbers[name] and tonumber(value) or value) end
        end
    end
end

register_postdissector(inorder)
