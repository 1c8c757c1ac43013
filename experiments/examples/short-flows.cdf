# Sizes of connections in bytes, and the share of connections that are not larger: most are short, a few carry most of the
# data. Made for this example, in the shape of published workloads of data centres.
1000 0
5000 0.15
20000 0.40
60000 0.60
200000 0.75
1000000 0.88
5000000 0.97
15000000 1
